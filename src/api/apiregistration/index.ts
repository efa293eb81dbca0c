/** The public surface of apiregistration.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { APIService } from "./api-service.ts";

export const apiregistrationKinds: readonly Kind[] = [APIService];
