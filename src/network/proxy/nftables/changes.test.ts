/** Whatever changes in whatever order: what nft was told adds up to the table as it would be made from nothing. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { NftablesState } from "./changes.ts";
import { elementsOf } from "./elements.ts";

const PODS = ["10.244.0.0/16"];

function vip(address: string, count: number, more: Partial<VirtualAddress> = {}): VirtualAddress {
  return {
    family: "IPv4",
    address,
    protocol: "tcp",
    port: 80,
    endpoints: Array.from({ length: count }, (_, at) => ({
      address: `10.244.0.${at + 1}`,
      port: 8080,
      isLocal: at === 0,
    })),
    masquerade: "outsiders",
    whenEmpty: "reject",
    ...more,
  };
}

/** The elements of a table, as commands leave them: fails on what the kernel refuses. */
class Kernel {
  readonly elements = new Map<string, string>();

  run(script: string): void {
    for (const line of script.split("\n")) {
      const command = /^(add|delete) element ip k8ts-proxy (\S+) \{ (.*) \}$/.exec(line);
      if (command === null) continue;
      const [, verb, set, list = ""] = command;
      for (const element of list.split(", ")) {
        const [key = "", value = ""] = element.split(" : ");
        const id = `${set} ${key}`;
        if (verb === "delete" && this.elements.get(id) !== value) throw new Error(`${id} is not there`);
        if (verb === "delete") this.elements.delete(id);
        else if (this.elements.has(id)) throw new Error(`${id} is there already`);
        else this.elements.set(id, value);
      }
    }
  }
}

describe("elements of an address", () => {
  it.each<[string, VirtualAddress, string[]]>([
    [
      "with endpoints",
      vip("10.96.0.1", 2),
      [
        "cluster-ips 10.96.0.1",
        "vips 10.96.0.1 . tcp . 80 : goto pick-2",
        "endpoints 10.96.0.1 . tcp . 80 . 0 : 10.244.0.1 . 8080",
        "endpoints 10.96.0.1 . tcp . 80 . 1 : 10.244.0.2 . 8080",
        "masqueraded-outsiders 10.96.0.1 . tcp . 80",
        "hairpins 10.244.0.1 . 10.244.0.1",
      ],
    ],
    ["with none", vip("10.96.0.1", 0), ["cluster-ips 10.96.0.1", "refused 10.96.0.1 . tcp . 80"]],
    [
      "with none here",
      vip("192.0.2.1", 0, { masquerade: "nobody", whenEmpty: "drop", endpointsFromInside: vip("", 1).endpoints }),
      [
        "dropped 192.0.2.1 . tcp . 80",
        "vips-inside 192.0.2.1 . tcp . 80 : goto pick-inside-1",
        "endpoints-inside 192.0.2.1 . tcp . 80 . 0 : 10.244.0.1 . 8080",
        "hairpins 10.244.0.1 . 10.244.0.1",
      ],
    ],
    [
      "for some, and with affinity",
      vip("192.0.2.1", 1, { masquerade: "everybody", affinitySeconds: 60, sourceRanges: ["198.51.100.0/24"] }),
      [
        "guarded 192.0.2.1 . tcp . 80",
        "allowed 192.0.2.1 . tcp . 80 . 198.51.100.0/24",
        "vips 192.0.2.1 . tcp . 80 : goto stick-1",
        "endpoints 192.0.2.1 . tcp . 80 . 0 : 10.244.0.1 . 8080",
        "masqueraded 192.0.2.1 . tcp . 80",
        "sticky 192.0.2.1 . tcp . 80 : goto learn-60",
        "hairpins 10.244.0.1 . 10.244.0.1",
      ],
    ],
  ])("%s", (_, address, want) => {
    const elements = elementsOf([address]).map(
      ({ set, key, value }) => `${set} ${key}${value === undefined ? "" : ` : ${value}`}`,
    );
    expect(elements).toEqual(want);
  });
});

/** As the proxy does it. */
function tell(kernel: Kernel, state: NftablesState, services: ReadonlyMap<string, readonly VirtualAddress[]>): void {
  const change = state.change(services);
  if (change.kind === "difference") kernel.run(change.script);
  if (change.kind !== "whole") return;
  kernel.elements.clear();
  kernel.run(state.whole());
}

describe("changes", () => {
  it("of one Service touch nothing else", () => {
    const state = new NftablesState("IPv4", PODS);
    state.change(
      new Map([
        ["a", [vip("10.96.0.1", 2)]],
        ["b", [vip("10.96.0.2", 2)]],
      ]),
    );
    expect(state.change(new Map([["a", [vip("10.96.0.1", 1)]]]))).toEqual({
      kind: "difference",
      script: [
        "delete element ip k8ts-proxy vips { 10.96.0.1 . tcp . 80 : goto pick-2 }",
        "delete element ip k8ts-proxy endpoints { 10.96.0.1 . tcp . 80 . 1 : 10.244.0.2 . 8080 }",
        "add element ip k8ts-proxy vips { 10.96.0.1 . tcp . 80 : goto pick-1 }",
      ].join("\n"),
    });
  });

  it("that change nothing say nothing", () => {
    const state = new NftablesState("IPv4", PODS);
    const services = new Map([["a", [vip("10.96.0.1", 2)]]]);
    expect(state.change(services).kind).toBe("difference");
    expect(state.change(services).kind).toBe("nothing");
  });

  it("that need a chain which is not there replace the table, once", () => {
    const state = new NftablesState("IPv4", PODS);
    expect(state.change(new Map([["a", [vip("10.96.0.1", 33)]]])).kind).toBe("whole");
    expect(state.whole()).toContain("add chain ip k8ts-proxy pick-33");
    expect(state.change(new Map([["b", [vip("10.96.0.2", 33)]]])).kind).toBe("difference");
    expect(state.change(new Map([["c", [vip("10.96.0.3", 1, { affinitySeconds: 60 })]]])).kind).toBe("whole");
  });

  it("leave what another one wants, too", () => {
    const state = new NftablesState("IPv4", PODS);
    const kernel = new Kernel();
    const both = new Map([
      ["a", [vip("10.96.0.1", 1)]],
      ["b", [vip("10.96.0.1", 2)]],
    ]);
    tell(kernel, state, both);
    tell(kernel, state, new Map([["a", []]]));
    expect(kernel.elements.get("vips 10.96.0.1 . tcp . 80")).toBe("goto pick-2");
    expect(kernel.elements.has("hairpins 10.244.0.1 . 10.244.0.1")).toBe(true);
  });

  it("add up to the whole, in any order", () => {
    const address = fc
      .record({
        last: fc.integer({ min: 1, max: 3 }),
        count: fc.integer({ min: 0, max: 3 }),
        masquerade: fc.constantFrom("nobody" as const, "outsiders" as const, "everybody" as const),
        sticky: fc.boolean(),
      })
      .map(({ last, count, masquerade, sticky }) =>
        vip(`10.96.0.${last}`, count, { masquerade, ...(sticky && { affinitySeconds: 60 }) }),
      );
    const steps = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.array(address, { maxLength: 2 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const state = new NftablesState("IPv4", PODS);
        const [changed, whole] = [new Kernel(), new Kernel()];
        for (const [owner, addresses] of all) tell(changed, state, new Map([[owner, addresses]]));
        whole.run(state.whole());
        expect([...changed.elements].sort()).toEqual([...whole.elements].sort());
      }),
      { numRuns: 500 },
    );
  });
});
