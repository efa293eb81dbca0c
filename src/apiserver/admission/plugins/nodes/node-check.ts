import type { Maybe } from "#base";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import type { ClusterView } from "../../chain/plugin.ts";

/** Checks a write of the kubelet on `node`. Refuses it by throwing a StatusError. */
export type NodeCheck = (node: string, attributes: AdmissionAttributes, cluster: ClusterView) => Maybe<void>;
