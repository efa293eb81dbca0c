/** What commands and the processes of machines agree on. */
import { caHash } from "./ca-hash.ts";

/** An annotation that `k8ts node remove` sets on a Node before it deletes it: the machine is not to be a node again. */
export const REMOVED = "k8ts.dev/removed";

export function joinCommand(endpoint: string, token: string, caPem: string): string {
  return `k8ts join ${endpoint} --token ${token} --ca-hash ${caHash(caPem)}`;
}
