import { afterEach, describe, expect, it } from "vitest";
import { kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { electionControllers } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const NAMESPACE = "kube-system";

async function running() {
  const features = parseFeatures({ gates: "CoordinatedLeaderElection=true" });
  const runtimeConfig = parseRuntimeConfig("coordination.k8s.io/v1beta1=true");
  const served = servedKinds({ runtimeConfig, enabled: features.enabled });
  const cluster = await testControllers(electionControllers, { features, kinds: served, rights: "everything" });
  open.push(() => cluster.close());
  const { client, clock } = cluster;
  await client.of(kinds.Namespace).create({ metadata: { name: NAMESPACE } });
  const leases = client.of(kinds.Lease).in(NAMESPACE);
  const candidates = client.of(optional.LeaseCandidate).in(NAMESPACE);
  const now = () => new Date(clock.now()).toISOString().replace("Z", "000Z");
  const stands = (name: string, emulationVersion: string, strategy = "OldestEmulationVersion") =>
    candidates.create({
      metadata: { name },
      spec: { leaseName: "part", binaryVersion: "1.36.4", emulationVersion, strategy, renewTime: now() },
    });
  const answers = async (name: string) => {
    const candidate = await candidates.get(name);
    await candidates.update({ ...candidate, spec: { ...candidate.spec, renewTime: now() } });
  };
  const renews = async () => {
    const lease = await leases.get("part");
    await leases.update({ ...lease, spec: { ...lease.spec, renewTime: now() } });
  };
  const isAsked = async (name: string) => (await candidates.get(name)).spec.pingTime !== undefined;
  const led = async () => {
    const { spec } = await leases.get("part");
    return { holder: spec?.holderIdentity, preferred: spec?.preferredHolder, strategy: spec?.strategy };
  };
  return { ...cluster, leases, candidates, stands, answers, renews, isAsked, led };
}

describe("a coordinated election", () => {
  it("gives a Lease that nobody holds to the candidate with the oldest emulated version", async () => {
    const { stands, settle, led, leases, clock } = await running();
    await leases.create({ metadata: { name: "part" }, spec: {} });
    await stands("new", "1.36.0");
    await settle();
    expect(await led()).toEqual({ holder: "new", preferred: undefined, strategy: "OldestEmulationVersion" });
    await Promise.all([stands("old", "1.35.0"), stands("older", "1.34.0")]);
    await leases.delete("part");
    await clock.advance(1_000);
    expect((await led()).holder).toBe("older");
  });

  it("prefers a better candidate to a living holder, which steps down itself", async () => {
    const { stands, settle, led, renews, leases, clock } = await running();
    await stands("new", "1.36.0");
    await settle();
    expect(await led()).toMatchObject({ holder: "new" });
    await renews();
    await stands("old", "1.35.0");
    await settle();
    expect(await led()).toMatchObject({ holder: "new", preferred: "old" });
    const lease = await leases.get("part");
    await leases.update({ ...lease, spec: { ...lease.spec, holderIdentity: "" } });
    await clock.advance(1_000);
    expect(await led()).toMatchObject({ holder: "old", preferred: undefined });
  });

  it("asks who has been silent, and takes the best of those that answer", async () => {
    const { stands, settle, led, answers, isAsked, clock } = await running();
    await stands("old", "1.35.0");
    await stands("new", "1.36.0");
    await settle();
    // Nobody renews the Lease.
    await clock.advance(12_000);
    expect([await isAsked("old"), await isAsked("new")]).toEqual([true, true]);
    await answers("new");
    await clock.advance(4_000);
    await answers("new");
    await clock.advance(2_000);
    expect(await led()).toMatchObject({ holder: "new" });
  });

  it("leaves other strategies to other controllers, with a Lease that nobody holds", async () => {
    const { stands, settle, led } = await running();
    await stands("a", "1.36.0", "example.com/mine");
    await settle();
    expect(await led()).toEqual({ holder: undefined, preferred: undefined, strategy: "example.com/mine" });
  });

  it("forgets candidates that have been silent for half an hour", async () => {
    const { stands, settle, candidates, clock, answers } = await running();
    await stands("a", "1.36.0");
    await stands("b", "1.36.0");
    await settle();
    await clock.advance(20 * 60_000);
    await answers("b");
    await clock.advance(11 * 60_000);
    expect((await candidates.list()).items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });
});
