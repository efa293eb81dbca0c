/** A Pod that names its node runs there or nowhere. */
import { nameOf, type PlainPlugin, unresolvable } from "./cluster.ts";

export const nodeName: PlainPlugin = {
  name: "NodeName",
  filter({ pod }, node) {
    const wanted = pod.spec?.nodeName ?? "";
    return wanted === "" || wanted === nameOf(node)
      ? undefined
      : unresolvable("node(s) didn't match the requested node name");
  },
};
