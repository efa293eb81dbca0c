import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { defaultTolerationSeconds, type TolerationSeconds } from "./default-toleration-seconds.ts";

const [NOT_READY, UNREACHABLE] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] as const;
type Said = { readonly key?: string; readonly effect?: string; readonly tolerationSeconds?: number };

it.each<[string, TolerationSeconds, Said[], Record<string, number | undefined>]>([
  ["five minutes each", {}, [], { [NOT_READY]: 300, [UNREACHABLE]: 300 }],
  ["as the flags say", { notReady: 30, unreachable: 0 }, [], { [NOT_READY]: 30, [UNREACHABLE]: 0 }],
  ["one of them", { notReady: 30 }, [], { [NOT_READY]: 30, [UNREACHABLE]: 300 }],
  [
    "what the Pod says stays",
    { notReady: 30, unreachable: 30 },
    [{ key: NOT_READY, effect: "NoExecute", tolerationSeconds: 7 }],
    { [NOT_READY]: 7, [UNREACHABLE]: 30 },
  ],
  ["a Pod that tolerates everything", { notReady: 30 }, [{ effect: "NoExecute" }], { "": undefined }],
  [
    "another effect is not enough",
    {},
    [{ key: NOT_READY, effect: "NoSchedule" }],
    { [NOT_READY]: 300, [UNREACHABLE]: 300 },
  ],
])("%s", async (_what, settings, said, expected) => {
  const tolerations = said.map((each) => ({ operator: "Exists", ...each }));
  const { object } = await admit(defaultTolerationSeconds(settings), { object: podObject({ tolerations }) });
  const found = (object.spec as { tolerations: Said[] }).tolerations;
  expect(Object.fromEntries(found.map(({ key = "", tolerationSeconds }) => [key, tolerationSeconds]))).toEqual(
    expected,
  );
});
