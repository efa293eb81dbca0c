/** An object that has to be there, whoever made it. */
import { isStatusError, type KubeObject } from "#api";
import type { CallOptions } from "./options.ts";
import type { ResourceClient } from "./resource-client.ts";

/**
 * Whether it has been made now; what is there already is left as it is. Looks first: another Service with the address of the one that is there would be
 * refused for its address.
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
