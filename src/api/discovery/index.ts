/** The public surface of discovery.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { EndpointSlice } from "./endpoint-slice.ts";

export const discoveryKinds: readonly Kind[] = [EndpointSlice];
