/** Creates an object unless it exists. */
import { isStatusError, type KubeObject } from "#api";
import type { CallOptions } from "./options.ts";
import type { ResourceClient } from "./resource-client.ts";

/**
 * True if it has been created now; an existing object is left as it is. Looks first: creating a Service with a cluster
 * IP that the existing one has would fail because of the address, not with AlreadyExists.
 */
export async function createUnlessThere<T extends KubeObject>(
  resource: ResourceClient<T>,
  object: T,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    await resource.get(object.metadata.name ?? "", options);
    return false;
  } catch (error) {
    if (!isStatusError(error, "NotFound")) throw error;
  }
  try {
    await resource.create(object, options);
    return true;
  } catch (error) {
    if (isStatusError(error, "AlreadyExists")) return false;
    throw error;
  }
}
