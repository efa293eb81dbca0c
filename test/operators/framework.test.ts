/**
 * Operators written with other people's frameworks, each in a process of its own, through the whole life of an object
 * that they care for: they define the kind, watch it, make a dependent, report in the status, hold a deletion up until
 * they are done.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Api } from "../support/api.ts";
import { type Running, start } from "../support/command.ts";
import { Home } from "../support/k8ts.ts";
import { definition, finalizer, group, plural, version } from "./support/site.mjs";

const installed = join(import.meta.dirname, "..", "..", ".tools", "operator-frameworks", "node_modules");
const frameworks = [
  { name: "@dot-i/k8s-operator", program: "dot-i-operator.mjs" },
  { name: "kubernetes-fluent-client", program: "fluent-operator.mjs" },
];
const sites = `/apis/${group}/${version}/namespaces/default/${plural}`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const site = (name: string, title: string) => ({
  apiVersion: `${group}/${version}`,
  kind: "Site",
  metadata: { name },
  spec: { title },
});

for (const { name, program } of frameworks) {
  const missing = existsSync(join(installed, name)) ? "" : ", skipped: not installed";
  describe.skipIf(missing !== "")(`an operator of ${name}${missing}`, () => {
    it("cares for its objects from their first day to their last", async () => {
      await using home = new Home();
      expect(await home.k8ts("up", "--store", "memory", "--port", "0", "--nodes", "0", "--detach")).toMatchObject({
        code: 0,
      });
      using api = new Api(home);
      const get = (path: string) => async () => (await api.call("GET", path)).body;
      const status = (path: string) => async () => (await api.call("GET", path)).status;
      await using operator = run(home, program);
      try {
        await expect.poll(status(sites)).toBe(200);

        // A new object.
        const { metadata } = await api.ok("POST", sites, site("blog", "Hello"));
        await expect.poll(get(`${sites}/blog`)).toMatchObject({
          metadata: { finalizers: [finalizer], generation: 1 },
          spec: { title: "Hello", theme: "light" },
          status: { phase: "Published", observedGeneration: 1 },
        });
        const owner = { kind: "Site", name: "blog", uid: uidOf(metadata), controller: true };
        await expect.poll(get(`${configMaps}/blog-page`)).toMatchObject({
          metadata: { ownerReferences: [owner] },
          data: { title: "Hello", theme: "light" },
        });

        // A change.
        await api.ok("PATCH", `${sites}/blog`, { spec: { title: "Again", theme: "dark" } });
        await expect.poll(get(`${sites}/blog`)).toMatchObject({ status: { observedGeneration: 2 } });
        expect(await get(`${configMaps}/blog-page`)()).toMatchObject({ data: { title: "Again", theme: "dark" } });

        // Another operator's lifetime finds what the first has left, and what has come meanwhile.
        operator.process.kill("SIGTERM");
        await operator.ended();
        await api.ok("POST", sites, site("shop", "Wares"));
        await api.ok("DELETE", `${sites}/blog`);
        expect(await get(`${sites}/blog`)()).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
        await using successor = run(home, program);
        try {
          await expect.poll(get(`${sites}/shop`)).toMatchObject({ status: { phase: "Published" } });

          // The end: first the operator's own business, then the object, then the dependent, which is collected.
          await expect.poll(status(`${sites}/blog`)).toBe(404);
          expect(await status(`${configMaps}/blog-unpublished`)()).toBe(200);
          await expect.poll(status(`${configMaps}/blog-page`)).toBe(404);
          expect(await status(`${configMaps}/shop-page`)()).toBe(200);
          expect(await get(sites)()).toMatchObject({ items: [{ metadata: { name: "shop" } }] });
          await expect.poll(() => successor.stdout()).toContain("DELETED blog");
        } catch (error) {
          throw explained(error, successor);
        }
      } catch (error) {
        throw explained(error, operator);
      }
    });
  });
}

function run(home: Home, program: string): Running {
  const file = join(home.dir, "site.yaml");
  writeFileSync(file, JSON.stringify(definition));
  return start(process.execPath, [join(import.meta.dirname, "support", program), file], {
    env: home.env,
    cwd: home.dir,
  });
}

function uidOf(metadata: object | undefined): unknown {
  return metadata !== undefined && "uid" in metadata ? metadata.uid : undefined;
}

/** With what the operator had to say. */
function explained(cause: unknown, operator: Running): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Error(`${message}\n\nThe operator:\n${operator.stdout()}${operator.stderr()}`, { cause });
}
