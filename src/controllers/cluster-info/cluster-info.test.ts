import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kinds } from "#api";
import { Client, inProcess } from "#client";
import { bootstrapSigner } from "../bootstrap-tokens/index.ts";
import { testControllers } from "../testing/index.ts";
import { publishClusterInfo } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const ADDRESS = { server: "https://10.0.0.1:6443", caPem: "-----BEGIN CERTIFICATE-----\n" };

async function cluster() {
  const running = await testControllers([bootstrapSigner], { selection: ["bootstrap-signer-controller"] });
  open.push(() => running.close());
  for (const name of ["kube-public", "kube-system"])
    await running.client.of(kinds.Namespace).create({ metadata: { name } });
  const infos = running.client.of(kinds.ConfigMap).in("kube-public");
  return { ...running, infos };
}

describe("cluster-info", () => {
  it("says where the cluster is and who signs for it, to everyone", async () => {
    const { client, server, clock } = await cluster();
    await publishClusterInfo(client, ADDRESS);
    const nobody = { name: "system:anonymous", groups: ["system:unauthenticated"] };
    const stranger = new Client({ transport: inProcess(server.handle, nobody), clock });
    open.push(() => stranger.close());
    const { data } = await stranger.of(kinds.ConfigMap).in("kube-public").get("cluster-info");
    expect(parse(data?.kubeconfig ?? "")).toMatchObject({
      kind: "Config",
      clusters: [
        {
          name: "",
          cluster: {
            server: ADDRESS.server,
            "certificate-authority-data": Buffer.from(ADDRESS.caPem).toString("base64"),
          },
        },
      ],
      users: null,
    });
    await expect(stranger.of(kinds.ConfigMap).in("kube-public").get("other")).rejects.toThrow("cannot get");
  });

  it("is signed by every token for it, and signed anew when it changes", async () => {
    const { client, infos, settle } = await cluster();
    await publishClusterInfo(client, ADDRESS);
    const data = {
      "token-id": Buffer.from("abcdef").toString("base64"),
      "token-secret": Buffer.from("0123456789abcdef").toString("base64"),
      "usage-bootstrap-signing": Buffer.from("true").toString("base64"),
    };
    const metadata = { name: "bootstrap-token-abcdef", namespace: "kube-system" };
    await client.of(kinds.Secret).create({ metadata, type: "bootstrap.kubernetes.io/token", data });
    await settle();
    const before = (await infos.get("cluster-info")).data ?? {};
    expect(Object.keys(before)).toEqual(["jws-kubeconfig-abcdef", "kubeconfig"]);
    await publishClusterInfo(client, ADDRESS);
    expect((await infos.get("cluster-info")).data).toEqual(before);
    await publishClusterInfo(client, { ...ADDRESS, server: "https://10.0.0.2:6443" });
    await settle();
    const after = (await infos.get("cluster-info")).data ?? {};
    expect(after.kubeconfig).toContain("10.0.0.2");
    expect(after["jws-kubeconfig-abcdef"]).not.toBe(before["jws-kubeconfig-abcdef"]);
  });
});
