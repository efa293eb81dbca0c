import { expect, it } from "vitest";
import { withoutHostPorts } from "./remove-node-network.ts";

const rule = (name: string, chain: string) =>
  `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"${name}\\" id: \\"abc\\"" -m multiport --dports 80 -j ${chain}`;
const saved = (...rules: readonly string[]) =>
  ["*nat", ":PREROUTING ACCEPT [0:0]", ":CNI-HOSTPORT-DNAT - [0:0]", ...rules, "COMMIT", ""].join("\n");

it.each([
  { name: "nothing", given: "", want: undefined },
  { name: "host ports of another network", given: saved(rule("other", "CNI-DN-1")), want: undefined },
  {
    name: "its own, beside those of another network",
    given: saved(rule("other", "CNI-DN-1"), rule("k8ts", "CNI-DN-2")),
    want: ["*nat", ":CNI-DN-2 - [0:0]", rule("k8ts", "CNI-DN-2").replace("-A", "-D"), "-X CNI-DN-2", "COMMIT", ""].join(
      "\n",
    ),
  },
])("removes $name", ({ given, want }) => expect(withoutHostPorts(given, "k8ts")).toBe(want));
