import { afterEach, describe, expect, it } from "vitest";
import { kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { createLogger, VirtualClock } from "#base";
import { type TestControllersOptions, testControllers } from "../testing/index.ts";
import { defineController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const GATE = "ClusterTrustBundle";
const on = parseFeatures({ gates: `${GATE}=true` });
const SERVED = "certificates.k8s.io/v1beta1/clustertrustbundles=true";

/** The words of its log, and how often it was bound. */
async function running(options: TestControllersOptions & { readonly runtimeConfig?: string | undefined }) {
  const { runtimeConfig = "", ...others } = options;
  let bound = 0;
  const controller = defineController({
    name: "gated",
    gates: [GATE],
    needs: [kinds.ConfigMap, optional.ClusterTrustBundle],
    bind: () => {
      bound += 1;
      return { sources: [], reconcile: () => undefined };
    },
  });
  const clock = new VirtualClock();
  const lines: { message: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as { message: string });
  const log = createLogger({ write, format: "json", level: "warn", clock });
  const apis = { runtimeConfig: parseRuntimeConfig(runtimeConfig), enabled: options.features?.enabled };
  const cluster = await testControllers([controller], { clock, log, kinds: servedKinds(apis), ...others });
  open.push(() => cluster.close());
  return { ...cluster, bound: () => bound, messages: () => lines.map(({ message }) => message) };
}

describe("a controller with a gate and a kind of its own", () => {
  it.each([
    { name: "neither gate nor kind", want: 0, says: [] },
    { name: "a kind that is asked for, but whose gate is off", runtimeConfig: SERVED, want: 0, says: [] },
    {
      name: "selected by name, with its gate off",
      selection: ["gated"],
      want: 0,
      says: ["a selected controller does not run: feature gates are off"],
    },
    {
      name: "its gate alone",
      features: on,
      want: 0,
      says: ["a controller does not run: its kind is not served"],
    },
    { name: "gate and kind", features: on, runtimeConfig: SERVED, want: 1, says: [] },
    { name: "disabled by name", features: on, runtimeConfig: SERVED, selection: ["*", "-gated"], want: 0, says: [] },
  ])("$name: runs $want times", async ({ want, says, name: _, ...options }) => {
    const { bound, messages } = await running(options);
    expect([bound(), messages()]).toEqual([want, says]);
  });

  it("asks again after a failure", async () => {
    const { server, stop, clock } = await running({ features: on, runtimeConfig: SERVED });
    await stop();
    let [bound, failures] = [0, 2];
    const controller = defineController({
      name: "later",
      needs: [optional.ClusterTrustBundle],
      bind: () => {
        bound += 1;
        return { sources: [], reconcile: () => undefined };
      },
    });
    const handle: typeof server.handle = async (request) => {
      failures -= 1;
      if (failures >= 0) throw new Error("the connection was reset");
      return server.handle(request);
    };
    const cluster = await testControllers([controller], { server: { ...server, handle } });
    open.push(() => cluster.close());
    expect(bound).toBe(0);
    await clock.advance(10_000);
    expect(bound).toBe(1);
  });
});
