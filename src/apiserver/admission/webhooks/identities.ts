/**
 * How this server authenticates to a webhook: the users of the kubeconfig that a WebhookAdmissionConfiguration names.
 *
 *     webhook.ns.svc:443 ──► user `webhook.ns.svc`, `*.ns.svc`, `*.svc`, `*`, that of the current context, or none
 */
import { dirname, resolve } from "node:path";
import { type apiextensions, isObject, type JsonObject, parseYaml } from "#api";
import type { WebhookIdentity } from "../../outbound/webhook-client.ts";
import { AdmissionConfigError } from "../chain/configuration.ts";

export type Identities = (config: apiextensions.WebhookClientConfig) => WebhookIdentity | undefined;

/** `read` returns the text of a file; it may throw. */
export function identities(configuration: JsonObject | undefined, read: (path: string) => string): Identities {
  const file = configuration?.kubeConfigFile;
  if (typeof file !== "string" || file === "") return () => undefined;
  const text = (path: string, what: string) => {
    try {
      return read(path);
    } catch (error) {
      throw new AdmissionConfigError(file, `${what} cannot be read: ${(error as Error).message}`, error);
    }
  };
  const { value: kubeconfig } = parseYaml(text(file, "the kubeconfig"));
  const users = new Map(
    named(kubeconfig, "users").map(([name, entry]) => {
      const user = isObject(entry.user) ? entry.user : {};
      return [name, identityOf(user, (path, what) => text(resolve(dirname(file), path), what))] as const;
    }),
  );
  const current = isObject(kubeconfig) ? String(kubeconfig["current-context"] ?? "") : "";
  const context = named(kubeconfig, "contexts").find(([name]) => name === current)?.[1].context;
  const byDefault = isObject(context) ? String(context.user ?? "") : "";
  return (config) => {
    const found = [...userNames(hostOf(config)), byDefault].find((name) => users.has(name));
    return found === undefined ? undefined : users.get(found);
  };
}

function hostOf({ url, service }: apiextensions.WebhookClientConfig): string {
  if (service !== undefined) return `${service.name}.${service.namespace}.svc:${service.port ?? 443}`;
  const { hostname, port } = new URL(url ?? "");
  return `${hostname}:${port === "" ? 443 : port}`;
}

/** The default port (443) may be left out. */
function userNames(host: string): readonly string[] {
  const targets = host.endsWith(":443") ? [host, host.slice(0, -":443".length)] : [host];
  const exact = targets.flatMap((target) => {
    const steps = target.split(".");
    return [target, ...steps.slice(1).map((_, i) => `*.${steps.slice(i + 1).join(".")}`)];
  });
  return [...exact, "*"];
}

function named(kubeconfig: unknown, list: string): readonly (readonly [string, JsonObject])[] {
  const entries = isObject(kubeconfig as JsonObject) ? (kubeconfig as JsonObject)[list] : [];
  return (Array.isArray(entries) ? entries : [])
    .filter((entry): entry is JsonObject => isObject(entry))
    .map((entry) => [String(entry.name ?? ""), entry] as const);
}

function identityOf(user: JsonObject, read: (path: string, what: string) => string): WebhookIdentity {
  const pem = (field: string) => {
    const [data, path] = [user[`${field}-data`], user[field]];
    if (typeof data === "string" && data !== "") return Buffer.from(data, "base64").toString("utf8");
    return typeof path === "string" && path !== "" ? read(path, field) : undefined;
  };
  const [cert, key] = [pem("client-certificate"), pem("client-key")];
  const authorization = authorizationOf(user, read);
  return { cert, key, authorization };
}

function authorizationOf(user: JsonObject, read: (path: string, what: string) => string): string | undefined {
  const { token, tokenFile, username, password = "" } = user;
  if (typeof tokenFile === "string" && tokenFile !== "") return `Bearer ${read(tokenFile, "tokenFile").trim()}`;
  if (typeof token === "string" && token !== "") return `Bearer ${token}`;
  if (typeof username !== "string" || username === "") return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
