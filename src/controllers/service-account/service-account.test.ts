import { afterEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { rootCaPublisher } from "../root-ca/index.ts";
import { testControllers } from "../testing/index.ts";
import { serviceAccountController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(caPem = "an authority") {
  const running = await testControllers([serviceAccountController, rootCaPublisher(caPem)]);
  open.push(() => running.close());
  await running.client.of(kinds.Namespace).create({ metadata: { name: "n" } });
  await running.settle();
  return running;
}

describe("what every namespace has", () => {
  it("is there from the start, and comes back", async () => {
    const { client, settle } = await cluster();
    await client.of(kinds.ServiceAccount).in("n").delete("default");
    await client.of(kinds.ConfigMap).in("n").delete("kube-root-ca.crt");
    await settle();
    expect((await client.of(kinds.ServiceAccount).in("n").list()).items.map(({ metadata }) => metadata.name)).toEqual([
      "default",
    ]);
    expect((await client.of(kinds.ConfigMap).in("n").get("kube-root-ca.crt")).data).toEqual({
      "ca.crt": "an authority",
    });
  });

  it("is put right when somebody changes it", async () => {
    const { client, settle } = await cluster();
    await client
      .of(kinds.ConfigMap)
      .in("n")
      .patch("kube-root-ca.crt", { type: "merge", object: { data: { "ca.crt": "evil", more: "x" } } });
    await settle();
    expect((await client.of(kinds.ConfigMap).in("n").get("kube-root-ca.crt")).data).toEqual({
      "ca.crt": "an authority",
    });
  });

  it("is left alone in a namespace that goes away", async () => {
    const { client, settle } = await cluster();
    await client.of(kinds.Namespace).delete("n");
    await settle();
    await client.of(kinds.ServiceAccount).in("n").delete("default");
    await settle();
    expect((await client.of(kinds.ServiceAccount).in("n").list()).items).toEqual([]);
  });
});
