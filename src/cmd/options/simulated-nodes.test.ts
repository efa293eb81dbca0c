import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type NodesFlagOptions, nodesFrom, nodesOptions } from "./simulated-nodes.ts";

function read(...args: string[]): NodesFlagOptions {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of nodesOptions()) command.addOption(option);
  return command.parse(args, { from: "user" }).opts();
}

describe("nodes", () => {
  it.each<[args: string[], nodes: object | undefined]>([
    [[], { count: 1 }],
    [["--nodes", "0"], undefined],
    [["--runtime", "simulated"], { count: 1 }],
    [["--runtime", "simulated", "--nodes", "5"], { count: 5 }],
    [["--runtime", "simulated", "--nodes", "0"], undefined],
    [["--nodes", "2"], { count: 2 }],
    [
      ["--runtime=simulated", "--node-cpu=4", "--node-memory=1024Mi", "--node-pods=20", "--node-zones=a, b"],
      { count: 1, cpu: "4", memory: "1Gi", pods: 20, zones: ["a", "b"] },
    ],
    [["--runtime=simulated", "--node-usage=/load.yaml"], { count: 1, usageFile: "/load.yaml" }],
  ])("%j", (args, nodes) => {
    const options = read(...args);
    expect(nodesFrom(options, options.nodes ?? 1)).toEqual(nodes);
  });

  it("of the last start are there again, unless flags say otherwise", () => {
    const before = { count: 3, cpu: "2", zones: ["a"] };
    expect(nodesFrom(read(), 3, before)).toEqual(before);
    expect(nodesFrom(read("--node-cpu", "4"), 3, before)).toEqual({ ...before, cpu: "4" });
    expect(nodesFrom(read("--nodes", "1"), 1, before)).toEqual({ count: 1 });
  });

  it.each([
    [["--nodes", "5001"], "a whole number from 0 to 5000"],
    [["--node-cpu", "many"], "an amount such as 8, 500m or 32Gi"],
    [["--node-cpu", "-1"], "an amount such as"],
    [["--node-pods", "0"], "a whole number from 1"],
    [["--node-zones", "a,B!"], '"B!" is not a zone name'],
    [["--runtime", "docker"], "Allowed choices are"],
  ])("%j is refused", (args, why) => {
    expect(() => read(...args)).toThrow(why);
  });

  it("facts about nodes need nodes that are simulated", () => {
    expect(() => nodesFrom(read("--node-cpu", "4"), 0)).toThrow("use --runtime simulated --nodes N");
    expect(() => nodesFrom(read("--node-cpu", "4", "--runtime", "containerd"), 0)).toThrow("apply to simulated nodes");
    expect(() => nodesFrom(read("--node-usage", "f"), 0)).toThrow("--node-usage apply to simulated nodes");
  });
});
