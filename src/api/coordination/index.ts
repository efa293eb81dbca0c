/** The public surface of coordination. */
import type { Kind } from "../machinery/kind.ts";
import { Lease } from "./lease.ts";

export { Lease };

export const coordinationKinds: readonly Kind[] = [Lease];
