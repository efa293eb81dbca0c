/** The public surface of admissionregistration.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { MutatingAdmissionPolicy, ValidatingAdmissionPolicy } from "./policy.ts";
import { MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding } from "./policy-binding.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "./webhook-configuration.ts";

export const admissionregistrationKinds: readonly Kind[] = [
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
];
