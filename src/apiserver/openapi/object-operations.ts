/** Operations on one object or a subresource of it: read, replace, patch, create, delete. */

import { apiVersionOf, type Kind } from "#api";
import { table } from "#base";
import { capital, withArticle } from "./names.ts";
import type { Operation, Parameter } from "./operation.ts";
import { META, type OperationMaker, type Subject } from "./operation-maker.ts";
import type { Action } from "./parameters.ts";

const LOG_OPTIONS = "io.k8s.api.core.v1.PodLogOptions";
const PATCHES = ["application/json-patch+json", "application/merge-patch+json"];
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const APPLY_CBOR = "application/apply-patch+cbor";

/** Kinds whose DELETE answers with the object; all others answer with a Status. */
const DELETED_OBJECT: Readonly<Record<string, readonly string[]>> = table({
  v1: ["PersistentVolumeClaim", "PersistentVolume", "Pod", "PodTemplate", "ResourceQuota", "ServiceAccount", "Service"],
  "resource.k8s.io/v1": ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"],
  "storage.k8s.io/v1": ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
});

export function returnsDeletedObject(kind: Kind): boolean {
  return DELETED_OBJECT[apiVersionOf(kind)]?.includes(kind.kind) ?? false;
}

export function read(maker: OperationMaker, subject: Subject): Operation {
  return maker.make("read", nameOf(maker, subject), subject, parametersOf(maker, subject, "get"), {
    method: "get",
    action: "get",
    description: `read ${specified(maker, subject)}`,
    responses: { 200: { typeName: subject.typeName } },
  });
}

/** Reads text, not an object. */
export function readLog(maker: OperationMaker, subject: Subject): Operation {
  const { parameters } = maker;
  const options = parameters.ofOptions(LOG_OPTIONS, "readNamespacedPodLog");
  const all = [...parametersOf(maker, subject, "get"), ...options];
  return maker.make("read", nameOf(maker, subject), subject, all, {
    method: "get",
    action: "get",
    description: `read ${specified(maker, subject)}`,
    produces: ["text/plain", ...maker.produces],
    responses: { 200: "text" },
  });
}

export function replace(maker: OperationMaker, subject: Subject): Operation {
  const content = { typeName: subject.typeName };
  return maker.make("replace", nameOf(maker, subject), subject, parametersOf(maker, subject, "put"), {
    method: "put",
    action: "put",
    description: `replace ${specified(maker, subject)}`,
    body: { ...content, required: true },
    responses: { 200: content, 201: content },
  });
}

export function patch(maker: OperationMaker, subject: Subject): Operation {
  const content = { typeName: subject.typeName };
  const { custom, cbor } = maker.types;
  return maker.make("patch", nameOf(maker, subject), subject, parametersOf(maker, subject, "patch"), {
    method: "patch",
    action: "patch",
    description: `partially update ${specified(maker, subject)}`,
    body: { typeName: `${META}.Patch`, required: true },
    consumes: [...PATCHES, ...(custom ? [] : [STRATEGIC]), APPLY, ...(cbor ? [APPLY_CBOR] : [])],
    responses: custom ? { 200: content } : { 200: content, 201: content },
  });
}

export function create(maker: OperationMaker, subject: Subject): Operation {
  const content = { typeName: subject.typeName };
  const of = subject.part === undefined ? "" : `${subject.part} of `;
  return maker.make("create", nameOf(maker, subject), subject, parametersOf(maker, subject, "post"), {
    method: "post",
    action: "post",
    description: `create ${of}${withArticle(maker.kind.kind)}`,
    body: { ...content, required: true },
    responses: { 200: content, 201: content, 202: content },
  });
}

export function remove(maker: OperationMaker, subject: Subject): Operation {
  const { kind } = maker;
  const content = { typeName: returnsDeletedObject(kind) ? subject.typeName : `${META}.Status` };
  return maker.make("delete", nameOf(maker, subject), subject, parametersOf(maker, subject, "delete"), {
    method: "delete",
    action: "delete",
    description: `delete ${withArticle(kind.kind)}`,
    body: { typeName: `${META}.DeleteOptions`, required: false },
    responses: { 200: content, 202: content },
  });
}

function nameOf({ inNamespace, kind }: OperationMaker, { part = "" }: Subject): string {
  return inNamespace + kind.kind + capital(part);
}

function specified({ kind }: OperationMaker, { part }: Subject): string {
  return `${part === undefined ? "" : `${part} of `}the specified ${kind.kind}`;
}

/** The path for creating an object has no name. */
function parametersOf({ parameters, namespace }: OperationMaker, subject: Subject, action: Action): Parameter[] {
  const named = action !== "post" || subject.part !== undefined;
  return [...(named ? [parameters.nameOf(subject.kind)] : []), ...namespace, ...parameters.ofAction(action)];
}
