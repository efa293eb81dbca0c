import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { testControllers } from "../testing/index.ts";
import { type Controller, changesOf, defineController, keysFrom, type Plan } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function running(...controllers: Controller[]) {
  const cluster = await testControllers(controllers, { rights: "everything" });
  open.push(() => cluster.close());
  return cluster;
}

/** Keeps as many Secrets for each ConfigMap as it asks for, named by chance: one too many and it would be seen. */
function copies(seen: string[] = []): Controller {
  return defineController({
    name: "copies",
    bind(context) {
      const configMaps = context.cache(kinds.ConfigMap);
      const secrets = context.cache(kinds.Secret);
      const bySource = secrets.index("source", ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.source}`]);
      return {
        sources: [
          changesOf(kinds.ConfigMap),
          keysFrom(kinds.Secret, ({ object }) => [`${object.metadata.namespace}/${object.metadata.labels?.source}`]),
        ],
        reconcile(key): Plan | undefined {
          const configMap = configMaps.get(key);
          if (configMap === undefined) return undefined;
          const wanted = Number(configMap.data?.copies ?? 0);
          const have = bySource(key);
          seen.push(`${have.length}/${wanted}`);
          const { namespace = "", name = "" } = configMap.metadata;
          const secret = { metadata: { generateName: `${name}-`, namespace, labels: { source: name } } };
          const missing = Math.max(0, wanted - have.length);
          return {
            steps: [
              Array.from({ length: missing }, () => ({
                verb: "create" as const,
                resource: kinds.Secret,
                object: secret,
              })),
              have.slice(wanted).map((object) => ({ verb: "delete" as const, resource: kinds.Secret, object })),
            ],
            eventFor: ({ verb }, { ok }) =>
              verb === "create"
                ? {
                    about: configMap,
                    type: ok ? "Normal" : "Warning",
                    reason: ok ? "Copied" : "FailedCopy",
                    note: "a copy",
                  }
                : undefined,
          };
        },
      };
    },
  });
}

const source = (copies: number): core.ConfigMap => ({
  metadata: { name: "s", namespace: "default" },
  data: { copies: `${copies}` },
});

describe("the controller runtime", () => {
  it("brings the cluster to what is wanted, and never overshoots", async () => {
    const seen: string[] = [];
    const { client, settle } = await running(copies(seen));
    await client.of(kinds.ConfigMap).create(source(20));
    await settle();
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(20);
    await client
      .of(kinds.ConfigMap)
      .in("default")
      .patch("s", { type: "merge", object: { data: { copies: "5" } } });
    await settle();
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(5);
    // A run that did not see its own last writes would have counted anything between.
    expect(new Set(seen)).toEqual(new Set(["0/20", "20/20", "20/5", "5/5"]));
  });

  it("is at rest when there is nothing to do", async () => {
    const { client, settle, clock, writes } = await running(copies());
    await client.of(kinds.ConfigMap).create(source(3));
    await settle();
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("tries again what fails, starting slowly, and says so", async () => {
    const { client, settle, clock, refuse, requests } = await running(copies());
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/secrets") ? new StatusError("Forbidden", "quota") : undefined,
    );
    await client.of(kinds.ConfigMap).create(source(64));
    await settle();
    expect(requests().filter(({ path }) => path.endsWith("/secrets")).length).toBeLessThan(10);
    refuse(() => undefined);
    await clock.advance(60_000);
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(64);
  });

  it("converges whatever goes wrong on the way", async () => {
    const { client, settle, clock, refuse, random } = await running(copies());
    const reasons = ["Conflict", "TooManyRequests", "InternalError", "ServiceUnavailable"] as const;
    refuse(({ method }) =>
      method !== "GET" && random.next() < 0.3 ? new StatusError(random.pick(reasons), "chance") : undefined,
    );
    await expect
      .poll(async () =>
        client
          .of(kinds.ConfigMap)
          .create(source(30))
          .then(
            () => true,
            () => false,
          ),
      )
      .toBe(true);
    await settle();
    await clock.advance(600_000);
    refuse(() => undefined);
    await clock.advance(3600_000);
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(30);
  });

  it("keeps each controller's own identity", async () => {
    const { client, settle, requests } = await running(copies());
    await client.of(kinds.ConfigMap).create(source(1));
    await settle();
    const creator = requests().find(({ method, path }) => method === "POST" && path.endsWith("/secrets"));
    expect(creator?.user?.name).toBe("system:serviceaccount:kube-system:copies");
    const watcher = requests().find(({ method, path }) => method === "GET" && path.endsWith("/secrets"));
    expect(watcher?.user?.name).toBe("system:kube-controller-manager");
  });

  it("starts a controller again that has ended by an error", async () => {
    let started = 0;
    const broken = defineController({
      name: "broken",
      bind: () => {
        started += 1;
        throw new Error("a bug");
      },
    });
    const { client, clock, settle } = await running(broken, copies());
    await clock.advance(10_000);
    expect(started).toBeGreaterThan(2);
    await client.of(kinds.ConfigMap).create(source(2));
    await settle();
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(2);
  });
});
