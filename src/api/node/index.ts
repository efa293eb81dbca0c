/** The public surface of node. */
import type { Kind } from "../machinery/kind.ts";
import { RuntimeClass } from "./runtime-class.ts";

export { RuntimeClass };

export const nodeKinds: readonly Kind[] = [RuntimeClass];
