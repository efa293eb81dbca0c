/** Authorization flags, with kube-apiserver's names. */
import { Option } from "commander";
import type { ClusterConfig } from "#cluster";
import { milliseconds } from "../values.ts";

export interface AuthorizationOptions {
  readonly authorizationMode?: readonly string[];
  readonly authorizationPolicyFile?: string;
  readonly authorizationWebhookConfigFile?: string;
  readonly authorizationWebhookVersion?: "v1" | "v1beta1";
  readonly authorizationWebhookCacheAuthorizedTtl?: number;
  readonly authorizationWebhookCacheUnauthorizedTtl?: number;
  readonly authorizationConfig?: string;
}

export function authorizationOptions(): readonly Option[] {
  const webhook = "--authorization-webhook";
  return [
    new Option("--authorization-mode <modes>", "ordered list of authorization modes; default: Node,RBAC").argParser(
      (value) => value.split(",").map((mode) => mode.trim()),
    ),
    new Option("--authorization-policy-file <file>", "policy file for mode ABAC, one JSON object per line"),
    new Option(`${webhook}-config-file <file>`, "kubeconfig of the webhook for mode Webhook"),
    new Option(`${webhook}-version <version>`, "SubjectAccessReview version for the webhook").choices([
      "v1",
      "v1beta1",
    ]),
    new Option(`${webhook}-cache-authorized-ttl <duration>`, "how long the webhook's approvals are cached").argParser(
      milliseconds,
    ),
    new Option(`${webhook}-cache-unauthorized-ttl <duration>`, "how long the webhook's denials are cached").argParser(
      milliseconds,
    ),
    new Option(
      "--authorization-config <file>",
      "AuthorizationConfiguration, instead of --authorization-mode and webhook flags",
    ),
  ];
}

export function authorizationFrom(options: AuthorizationOptions): NonNullable<ClusterConfig["authorization"]> {
  const flags = {
    authorizationMode: options.authorizationMode,
    authorizationPolicyFile: options.authorizationPolicyFile,
    authorizationWebhookConfigFile: options.authorizationWebhookConfigFile,
    authorizationWebhookVersion: options.authorizationWebhookVersion,
    authorizationWebhookCacheAuthorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtl,
    authorizationWebhookCacheUnauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtl,
    authorizationConfig: options.authorizationConfig,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}
