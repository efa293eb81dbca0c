/** Validation of the conversion between versions. Paths are those of Kubernetes' internal type. */
import { validateService, validateUrl } from "../../admissionregistration/webhook-validation.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { checkDns1035Label } from "../../machinery/names/names.ts";
import { base64Fault, decodeBase64 } from "../../machinery/scalars/base64.ts";
import type { CustomResourceConversion, WebhookClientConfig } from "../../types/apiextensions-v1.ts";
import { type Requirements, reviewVersions } from "./requirements.ts";

const strategies = ["None", "Webhook"];

export function conversionFaults(
  conversion: CustomResourceConversion | undefined,
  requirements: Requirements,
  path: FieldPath,
): readonly FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const [config, versions] = [path.child("webhookClientConfig"), path.child("conversionReviewVersions")];
  const errors: FieldError[] = [];
  if (strategy === "") errors.push(required(path.child("strategy")));
  else if (!strategies.includes(strategy)) errors.push(notSupported(path.child("strategy"), strategy, strategies));
  if (strategy === "Webhook") {
    errors.push(...clientFaults(webhook?.clientConfig, requirements, config));
    const asked = webhook?.conversionReviewVersions ?? [];
    return [...errors, ...versionFaults(asked, requirements.knownReviewVersion, versions)];
  }
  const words = "should not be set when strategy is not set to Webhook";
  if (webhook?.clientConfig !== undefined) errors.push(forbidden(config, words));
  if ((webhook?.conversionReviewVersions ?? []).length > 0) errors.push(forbidden(versions, words));
  return errors;
}

function clientFaults(
  client: WebhookClientConfig | undefined,
  { validCaBundle }: Requirements,
  path: FieldPath,
): readonly FieldError[] {
  if (client === undefined) return [required(path, "required when strategy is set to Webhook")];
  const { url, service, caBundle } = client;
  const errors: FieldError[] = [];
  if ((url === undefined) === (service === undefined))
    errors.push(required(path, "exactly one of url or service is required"));
  else if (url !== undefined) errors.push(...validateUrl(url, path.child("url")));
  else if (service !== undefined) errors.push(...validateService(service, path.child("service")));
  const fault = validCaBundle && caBundle ? caBundleFault(caBundle) : undefined;
  return fault === undefined ? errors : [...errors, invalid(path.child("caBundle"), caBundle ?? "", fault)];
}

function versionFaults(versions: readonly string[], requireKnown: boolean, path: FieldPath): readonly FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(path.index(i), version, "duplicate version"));
    else for (const why of checkDns1035Label(version)) errors.push(invalid(path.index(i), version, why));
    seen.add(version);
  }
  if (requireKnown && !versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`));
  return errors;
}

const failed = "unable to load root certificates";
const DER_SEQUENCE = 0x30;

/** `bundle` is base64 of PEM, as in JSON. */
export function caBundleFault(bundle: string): string | undefined {
  const blocks = pemBlocks(new TextDecoder().decode(decodeBase64(bundle)));
  if (blocks.length === 0) return `${failed}: unable to parse bytes as PEM block`;
  const certificates = blocks.filter(({ type }) => type === "CERTIFICATE");
  if (certificates.length === 0) return `${failed}: no valid certificate authority data seen`;
  const readable = certificates.every(
    ({ body }) => base64Fault(body) === undefined && decodeBase64(body)[0] === DER_SEQUENCE,
  );
  return readable ? undefined : `${failed}: failed to parse certificate: x509: malformed certificate`;
}

function pemBlocks(text: string): readonly { readonly type: string; readonly body: string }[] {
  return text
    .split("-----BEGIN ")
    .slice(1)
    .flatMap((part) => {
      const head = part.indexOf("-----");
      const type = part.slice(0, Math.max(head, 0));
      const end = part.indexOf(`-----END ${type}-----`);
      if (head < 0 || end < 0) return [];
      return [{ type, body: part.slice(head + "-----".length, end).replace(/\s+/g, "") }];
    });
}
