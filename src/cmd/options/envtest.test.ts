import { describe, expect, it } from "vitest";
import { envtestFrom } from "./envtest.ts";

describe("variables of the environment for envtest", () => {
  const nothing = { controllers: undefined, nodes: 0, endsWithParent: false };
  it.each([
    [{}, nothing],
    [{ K8TS_ENVTEST_CONTROLLERS: "0", K8TS_ENVTEST_NODES: "0", K8TS_ENVTEST_END_WITH_PARENT: "false" }, nothing],
    [{ K8TS_ENVTEST_CONTROLLERS: "1" }, { ...nothing, controllers: ["*"] }],
    [
      { K8TS_ENVTEST_CONTROLLERS: "job, -namespace-controller" },
      { ...nothing, controllers: ["job", "-namespace-controller"] },
    ],
    [{ K8TS_ENVTEST_NODES: "3" }, { ...nothing, nodes: 3 }],
    [{ K8TS_ENVTEST_END_WITH_PARENT: "true" }, { ...nothing, endsWithParent: true }],
  ])("%o", (variables, want) => {
    expect(envtestFrom(variables)).toEqual(want);
  });

  it.each([
    [{ K8TS_ENVTEST_NODES: "many" }, "K8TS_ENVTEST_NODES: "],
    [{ K8TS_ENVTEST_NODES: "1001" }, "K8TS_ENVTEST_NODES: "],
    [{ K8TS_ENVTEST_END_WITH_PARENT: "perhaps" }, 'K8TS_ENVTEST_END_WITH_PARENT is 1 or 0, not "perhaps".'],
  ])("%o is refused", (variables, says) => {
    expect(() => envtestFrom(variables)).toThrow(says);
  });
});
