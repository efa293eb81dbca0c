import { expect, it } from "vitest";
import { claimFor, DRIVER, deviceClass, exactly, slice } from "../../testing/devices.ts";
import { explainClaim } from "./explain-claim.ts";

const IS_LARGE = `device.attributes["${DRIVER}"].model == "large"`;
const device = (name: string, model: string) => ({ name, attributes: { model: { string: model } } });

it("a claim without devices is explained: which selector fails, and who holds what", () => {
  const slices = [
    slice("a", [device("x", "small"), device("y", "large")], { on: "a" }),
    slice("b", [{ ...device("z", "large"), taints: [{ key: "hot", effect: "NoSchedule" }] }], { on: "b" }),
    slice("c", [device("w", "large")], { on: "c", slices: 2 }),
  ];
  const holder = {
    ...claimFor("held", [exactly("r")]),
    status: {
      allocation: { devices: { results: [{ request: "r", driver: DRIVER, pool: "a", device: "y" }] } },
      reservedFor: [{ resource: "pods", name: "web", uid: "u" }],
    },
  };
  const claim = claimFor("c", [exactly("r", { where: [IS_LARGE] })]);
  expect(explainClaim(claim, { slices, classes: [deviceClass("gpu")], claims: [holder] })).toEqual({
    cause: "request r needs 1 device(s), 0 of 4 would do",
    because: [
      `request r: 1 of 4 devices fail selector #0 of the claim (${IS_LARGE}), such as x of a`,
      "request r: 1 of 4 devices are held, such as y of a by claim default/held of pod web",
      "request r: 1 of 4 devices have taints that are not tolerated, such as z of b",
      "request r: 1 of 4 devices are in pools that are being updated, such as w of c",
    ],
    help: ["what would free a device: the end of claim default/held of pod web"],
  });
  expect(explainClaim(claim, { slices, classes: [], claims: [] }).cause).toBe(
    "request r: device class gpu does not exist",
  );
  const none = explainClaim(claim, { slices: [], classes: [deviceClass("gpu")], claims: [] });
  expect(none.help).toEqual(["no ResourceSlice has devices: is the driver running?"]);
});

it("a claim for more devices than one node has free names the node that comes closest, and rules taint devices", () => {
  const slices = ["a", "b"].map((on) => slice(on, [device("x", "large"), device("y", "large")], { on }));
  const claim = claimFor("c", [exactly("r", { count: 2 })]);
  const rule = { metadata: { name: "t" }, spec: { taint: { key: "broken", effect: "NoSchedule" as const } } };
  const selected = { ...rule, spec: { ...rule.spec, deviceSelector: { device: "y" } } };
  const objects = { slices, classes: [deviceClass("gpu")], claims: [] };
  expect(explainClaim(claim, objects).cause).toBeUndefined();
  expect(explainClaim(claim, { ...objects, taintRules: [selected] })).toMatchObject({
    cause: "request r needs 2 device(s), 2 of 4 would do; no node has so many: a has 1",
    because: ["request r: 2 of 4 devices have taints that are not tolerated, such as y of a"],
  });
  expect(explainClaim(claim, { ...objects, taintRules: [rule] }).cause).toBe(
    "request r needs 2 device(s), 0 of 4 would do",
  );
});
