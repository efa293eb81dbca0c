/** Every controller of the controller manager, in the order in which they are started. */
import { garbageCollector } from "./garbage-collector/index.ts";
import { namespaceController } from "./namespace/index.ts";
import type { Controller } from "./runtime/index.ts";

export const controllers: readonly Controller[] = [namespaceController, garbageCollector];
