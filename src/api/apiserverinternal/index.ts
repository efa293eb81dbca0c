/** The public surface of internal.apiserver.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { StorageVersion } from "./storage-version.ts";

export { StorageVersion };

export const apiserverinternalKinds: readonly Kind[] = [StorageVersion];
