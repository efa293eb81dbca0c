/** The public surface of admissionregistration.k8s.io. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { MutatingAdmissionPolicy, ValidatingAdmissionPolicy } from "./policy.ts";
import { MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding } from "./policy-binding.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "./webhook-configuration.ts";

const older = ["admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1alpha1"];

export const admissionregistrationKinds: readonly Kind[] = [
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  ...older.flatMap((version): readonly Kind[] => [
    sameVersion(version, MutatingAdmissionPolicy),
    sameVersion(version, MutatingAdmissionPolicyBinding),
  ]),
];
