/** The size of pages of an emptyDir volume of huge pages, from its medium and what the Pod asks for. Pure. */
import { type core, podRequests } from "#api";
import { VolumeError } from "./volume-error.ts";

const PREFIX = "hugepages-";

/** As mount(8) takes it: `2M`. Undefined: the medium is another one. Throws VolumeError. */
export function hugePageSize(pod: core.Pod, medium: string): string | undefined {
  if (medium !== "HugePages" && !medium.startsWith("HugePages-")) return undefined;
  const asked = Object.keys(podRequests(pod)).filter((name) => name.startsWith(PREFIX));
  const wanted = medium === "HugePages" ? asked : [`${PREFIX}${medium.slice("HugePages-".length)}`];
  const [resource] = wanted;
  if (wanted.length > 1)
    throw new VolumeError("medium HugePages cannot be used if the Pod asks for huge pages of several sizes");
  if (resource === undefined || !asked.includes(resource))
    throw new VolumeError(`the Pod asks for no huge pages of medium ${medium}`);
  return resource.slice(PREFIX.length).replace(/i$/, "");
}
