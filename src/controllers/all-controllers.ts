/** Every controller of the controller manager, in the order in which they are started. */
import type { Controller } from "./runtime/index.ts";

export const controllers: readonly Controller[] = [];
