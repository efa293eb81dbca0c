import { expect, it } from "vitest";
import { nodeRequest, specOf } from "./remote-authority.ts";

it.each([
  {
    name: "the node itself",
    given: nodeRequest("a"),
    want: {
      commonName: "system:node:a",
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usage: "client auth",
    },
  },
  {
    name: "its server",
    given: {
      ...nodeRequest("a"),
      usages: ["server"] as const,
      dnsNames: ["a"],
      ipAddresses: ["192.0.2.1"],
    },
    want: {
      signerName: "kubernetes.io/kubelet-serving",
      usage: "server auth",
      names: { dnsNames: ["a"], ipAddresses: ["192.0.2.1"] },
    },
  },
  {
    name: "its network agent",
    given: { commonName: "system:kube-proxy", usages: ["client"] as const },
    want: { commonName: "system:kube-proxy", signerName: "kubernetes.io/kube-apiserver-client", usage: "client auth" },
  },
])("the certificate of $name", ({ given, want }) => expect(specOf(given)).toMatchObject(want));
