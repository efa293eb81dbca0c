/**
 * From registries.yaml to what containerd and kubelets need. Pure.
 *
 *     mirrors, tls ──► <registry>/hosts.toml, with the files that it names     (containerd's certs.d)
 *     auth ──► credentials, which a kubelet hands over with a pull             (each for one server)
 *     rewrite ──► a path at the pull proxy, which changes the repository       (containerd itself has no rewrites)
 */
import type { Registries, Rewrite, ServerTls } from "./registries-file.ts";

export interface CompiledRegistries {
  /** Below the folder of hosts: paths with contents. */
  readonly files: ReadonlyMap<string, string>;
  readonly credentials: readonly RegistryCredentials[];
  /** By what the path at the pull proxy begins with. */
  readonly rewrites: ReadonlyMap<string, RewrittenEndpoint>;
}

/** For images of `registry`, sent to `server` only. */
export interface RegistryCredentials {
  /** `*`: of any registry. */
  readonly registry: string;
  /** A URL. Empty: the image's own registry. */
  readonly server: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly identityToken?: string | undefined;
}

export interface RewrittenEndpoint {
  readonly url: URL;
  readonly rewrites: readonly Rewrite[];
  readonly tls?: TlsTexts | undefined;
}

/** The contents of a server's files. */
export interface TlsTexts {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

export interface Surroundings {
  /** The text of a file that `tls` names. */
  text(file: string): string;
  /** The URL of the pull proxy below which rewritten endpoints are. */
  readonly rewriteUrl: string;
}

export const CREDENTIALS_FILE = "registry-credentials.json";
const DOCKER_HUB = "docker.io";
/** Where images of docker.io are, and the name under which Docker keeps its credentials. */
const DOCKER_HUB_SERVERS = ["index.docker.io", "registry-1.docker.io"];

export function compileRegistries(registries: Registries, { text, rewriteUrl }: Surroundings): CompiledRegistries {
  const { mirrors, configs } = registries;
  const files = new Map<string, string>();
  const credentials: RegistryCredentials[] = [];
  const rewritten = new Map<string, RewrittenEndpoint>();
  const tlsOf = (server: string) => configOf(registries, server)?.tls;

  const addCredentials = (registry: string, server: string, sentTo: string) => {
    const auth = configOf(registries, server)?.auth;
    if (auth !== undefined) credentials.push({ registry, server: sentTo, ...auth });
  };
  const certs = (folder: string, server: string, tls: ServerTls | undefined): string[] => {
    if (tls === undefined) return [];
    const { caFile, certFile, keyFile, insecureSkipVerify } = tls;
    const put = (file: string, suffix: string) => {
      const name = `${server.replace(/[^a-zA-Z0-9.-]/g, "_")}.${suffix}.pem`;
      files.set(`${folder}/${name}`, text(file));
      return name;
    };
    return [
      ...(caFile === undefined ? [] : [`ca = [${toml(put(caFile, "ca"))}]`]),
      ...(certFile === undefined || keyFile === undefined
        ? []
        : [`client = [[${toml(put(certFile, "cert"))}, ${toml(put(keyFile, "key"))}]]`]),
      ...(insecureSkipVerify === true ? ["skip_verify = true"] : []),
    ];
  };

  for (const registry of new Set([...mirrors.keys(), ...[...configs.keys()].map(registryOf)])) {
    const { endpoints = [], rewrites = [] } = mirrors.get(registry) ?? mirrors.get("*") ?? {};
    const folder = registry === "*" ? "_default" : registry;
    const servers = serversOf(registry);
    const own = certs(
      folder,
      registry,
      servers.map(tlsOf).find((tls) => tls !== undefined),
    );
    const lines: string[] = [];
    for (const [at, url] of endpoints.entries()) {
      if (rewrites.length > 0) {
        const key = `${folder}/${at}`;
        const target = `${rewriteUrl}/${key}/v2`;
        rewritten.set(key, { url, rewrites, tls: texts(tlsOf(url.host), text) });
        lines.push("", `[host.${toml(target)}]`, '  capabilities = ["pull", "resolve"]', "  override_path = true");
        addCredentials(registry, url.host, target);
        continue;
      }
      const isPath = url.pathname.replace(/\/$/, "") !== "";
      lines.push("", `[host.${toml(url.href.replace(/\/$/, ""))}]`, '  capabilities = ["pull", "resolve"]');
      if (isPath) lines.push("  override_path = true");
      lines.push(...certs(folder, url.host, tlsOf(url.host)).map((line) => `  ${line}`));
      addCredentials(registry, url.host, url.origin);
    }
    // containerd takes the certificates of a registry where it stands as a host of itself.
    const itself = `https://${servers.at(-1)}`;
    if (own.length > 0 && registry !== "*")
      lines.push(
        "",
        `[host.${toml(itself)}]`,
        '  capabilities = ["pull", "resolve", "push"]',
        ...own.map((line) => `  ${line}`),
      );
    else lines.unshift(...own);
    if (own.length > 0 && registry !== "*") lines.unshift(`server = ${toml(itself)}`);
    // Without this table containerd refuses the file.
    if (!lines.some((line) => line.startsWith("[host"))) lines.push("", "[host]");
    files.set(`${folder}/hosts.toml`, `${lines.join("\n").trim()}\n`);
    const known = servers.find((server) => configOf(registries, server)?.auth !== undefined);
    if (known !== undefined) addCredentials(registry, known, registry === "*" ? "" : `https://${servers.at(-1)}`);
  }
  return { files, credentials, rewrites: rewritten };
}

/** The repository as the endpoint has it: the first rewrite that changes it counts. */
export function rewrittenRepository(repository: string, rewrites: readonly Rewrite[]): string {
  for (const { pattern, replacement } of rewrites) {
    const changed = repository.replaceAll(new RegExp(pattern, "g"), replacement.replaceAll(/\$\{(\d+)\}/g, "$$$1"));
    if (changed !== repository) return changed;
  }
  return repository;
}

/** The registry of a server, as images name it. */
function registryOf(server: string): string {
  return DOCKER_HUB_SERVERS.includes(server) ? DOCKER_HUB : server.replace(/:443$/, "");
}

/** The names under which a registry may be configured; the last one is where its images are. */
function serversOf(registry: string): readonly string[] {
  return registry === DOCKER_HUB ? [DOCKER_HUB, ...DOCKER_HUB_SERVERS] : [registry];
}

/** `mirror.example:443` and `mirror.example` are the same server. `*` is for those without an entry. */
function configOf({ configs }: Registries, server: string) {
  return configs.get(server) ?? configs.get(`${server}:443`) ?? configs.get("*");
}

function texts(tls: ServerTls | undefined, text: Surroundings["text"]): TlsTexts | undefined {
  if (tls === undefined) return undefined;
  const { caFile, certFile, keyFile, insecureSkipVerify } = tls;
  const read = (file: string | undefined) => (file === undefined ? undefined : text(file));
  return { ca: read(caFile), cert: read(certFile), key: read(keyFile), insecureSkipVerify };
}

function toml(text: string): string {
  return JSON.stringify(text);
}
