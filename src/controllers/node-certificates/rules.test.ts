import { describe, expect, it } from "vitest";
import type { RequestedNames, SigningRequest } from "../certificates/index.ts";
import { type AddressFacts, whyNotApproved } from "./rules.ts";

const facts: AddressFacts = {
  nodes: new Map([
    ["a", ["10.0.0.2", "a"]],
    ["b", ["10.0.0.3", "fd00::3"]],
    ["main", ["10.0.0.1"]],
  ]),
  servers: ["10.0.0.1", "10.96.0.1"],
  controlPlanes: new Set(["main"]),
};
type Kind = Pick<SigningRequest["spec"], "signerName"> & {
  readonly usages: NonNullable<SigningRequest["spec"]["usages"]>;
};
const SERVING: Kind = { signerName: "kubernetes.io/kubelet-serving", usages: ["digital signature", "server auth"] };
const CLIENT: Kind = {
  signerName: "kubernetes.io/kube-apiserver-client",
  usages: ["digital signature", "client auth"],
};
const none = { organizations: [], dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
const serving: RequestedNames = {
  ...none,
  commonName: "system:node:a",
  organizations: ["system:nodes"],
  dnsNames: ["a"],
  ipAddresses: ["10.0.0.2"],
};
const proxy: RequestedNames = { ...none, commonName: "system:kube-proxy" };

interface Case {
  readonly name: string;
  readonly spec?: Partial<SigningRequest["spec"]>;
  readonly names?: Partial<RequestedNames>;
  readonly want: string | undefined | null;
}

const ask = ({ spec = {}, names = {} }: Case, kind: Kind, asked: RequestedNames) => {
  const usual = { request: "", username: "system:node:a", groups: ["system:nodes", "system:authenticated"], ...kind };
  const request = { metadata: {}, spec: { ...usual, ...spec } } as SigningRequest;
  return whyNotApproved(request, { ...asked, ...names }, facts);
};

describe("a serving certificate", () => {
  it.each<Case>([
    { name: "for its own name and address", want: undefined },
    { name: "for an address that nobody has yet", names: { ipAddresses: ["10.0.0.9"] }, want: undefined },
    { name: "of a key that enciphers", spec: { usages: [...SERVING.usages, "key encipherment"] }, want: undefined },
    {
      name: "for another node",
      names: { commonName: "system:node:b" },
      want: "it is for another node",
    },
    { name: "for another name", names: { dnsNames: ["a", "kubernetes"] }, want: "kubernetes is not the node's name" },
    {
      name: "for an address of another node, in another spelling",
      names: { ipAddresses: ["fd00:0::3"] },
      want: "fd00::3 is an address of node b",
    },
    {
      name: "for the API server",
      names: { ipAddresses: ["10.96.0.1"] },
      want: "10.96.0.1 is an address of the API server",
    },
    {
      name: "of a control plane, whose API server has its address",
      spec: { username: "system:node:main" },
      names: { commonName: "system:node:main", dnsNames: ["main"], ipAddresses: ["10.0.0.1"] },
      want: undefined,
    },
    {
      name: "that is one of a client, too",
      spec: { usages: [...SERVING.usages, "client auth"] },
      want: "it asks for other usages than those of a server",
    },
    { name: "that somebody else asks for", spec: { username: "system:bootstrap:abcdef" }, want: null },
    { name: "of one who only has a node's name", spec: { groups: ["system:authenticated"] }, want: null },
    { name: "of another signer", spec: { signerName: "kubernetes.io/kube-apiserver-client-kubelet" }, want: null },
  ])("$name", (given) => expect(ask(given, SERVING, serving)).toBe(given.want));
});

describe("the network agent's certificate", () => {
  it.each<Case>([
    { name: "is approved for a node", want: undefined },
    {
      name: "is of no group",
      names: { organizations: ["system:masters"] },
      want: "it asks for more than kube-proxy has",
    },
    { name: "is of no other user", names: { commonName: "admin" }, want: null },
    { name: "is nobody else's", spec: { username: "ann", groups: ["system:authenticated"] }, want: null },
  ])("$name", (given) => expect(ask(given, CLIENT, proxy)).toBe(given.want));
});
