/**
 * Groups under k8s.io and kubernetes.io belong to the Kubernetes project: who defines a kind in one of them says where that was agreed on, or
 * that it was not.
 */
import { at, type FieldError, invalid, required } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { CustomResourceDefinition } from "../types/apiextensions-v1.ts";
import type { ConditionFacts } from "./condition.ts";

const annotation = "api-approved.kubernetes.io";
const where = "see https://github.com/kubernetes/enhancements/pull/1111";
const protectedGroup = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

type State = "Approved" | "Bypassed" | "Invalid" | "Missing";

interface Approval {
  readonly state: State;
  readonly message: string;
}

/** The condition KubernetesAPIApprovalPolicyConformant; undefined for groups that are nobody's but the user's. */
export function apiApproval({ metadata, spec }: CustomResourceDefinition): ConditionFacts | undefined {
  if (!protectedGroup.test(spec.group)) return undefined;
  const { state, message } = approvalOf(metadata.annotations);
  switch (state) {
    case "Approved":
      return { status: "True", reason: "ApprovedAnnotation", message };
    case "Bypassed":
      return { status: "False", reason: "UnapprovedAnnotation", message };
    case "Invalid":
      return { status: "False", reason: "InvalidAnnotation", message };
    case "Missing":
      return { status: "False", reason: "MissingAnnotation", message };
  }
}

/** A state that was there before is left alone: who updates a definition need not know of it. */
export function validateApiApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): readonly FieldError[] {
  if (!protectedGroup.test(definition.spec.group)) return [];
  const { annotations } = definition.metadata;
  const { state, message } = approvalOf(annotations);
  if (old !== undefined && approvalOf(old.metadata.annotations).state === state) return [];
  const path = at("metadata", "annotations").key(annotation);
  if (state === "Missing") return [required(path, message)];
  return state === "Invalid" ? [invalid(path, annotations?.[annotation] ?? "", message)] : [];
}

function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const text = annotations?.[annotation] ?? "";
  const wanted = `protected groups must have approval annotation ${goQuote(annotation)}`;
  if (text === "") return { state: "Missing", message: `${wanted}, ${where}` };
  if (text.startsWith("unapproved")) return { state: "Bypassed", message: `not approved: ${goQuote(text)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(text) && URL.canParse(text))
    return { state: "Approved", message: `approved in ${text}` };
  return { state: "Invalid", message: `${wanted} with either a URL or a reason starting with "unapproved", ${where}` };
}
