/** The whole public surface of apiextensions.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { CustomResourceDefinition } from "./custom-resource-definition.ts";

export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];
