/** The plugins that run: those that are on by default, changed by the flags. */
import { defaultFeatures, type JsonObject } from "#api";
import { allPlugins } from "./all-plugins.ts";
import { AdmissionConfigError } from "./chain/configuration.ts";
import type { AdmissionPlugin } from "./chain/plugin.ts";
import type { PluginServices } from "./chain/plugin-services.ts";

export interface AdmissionOptions {
  /** `--enable-admission-plugins`: in addition to those that are on by default. */
  readonly enable?: readonly string[] | undefined;
  /** `--disable-admission-plugins`. */
  readonly disable?: readonly string[] | undefined;
  /** The sections of `--admission-control-config-file`, by plugin. */
  readonly configuration?: ReadonlyMap<string, JsonObject> | undefined;
  /**
   * A controller creates the ServiceAccount `default` in each namespace: Pods wait for it. Default: its absence is
   * ignored.
   */
  readonly requireDefaultAccount?: boolean | undefined;
  /** `--default-not-ready-toleration-seconds`, `--default-unreachable-toleration-seconds`. Default: 300 each. */
  readonly tolerationSeconds?: PluginServices["tolerationSeconds"];
  /** Whether a feature gate is on. Default: as in v1.36. */
  readonly featureEnabled?: ((gate: string) => boolean) | undefined;
}

/** Throws AdmissionConfigError for names and sections that cannot be used. */
export async function selectPlugins(
  { enable = [], disable = [], configuration = new Map(), ...settings }: AdmissionOptions,
  services: Omit<PluginServices, "requireDefaultAccount" | "featureEnabled" | "tolerationSeconds">,
): Promise<readonly AdmissionPlugin[]> {
  const { requireDefaultAccount = false, featureEnabled = defaultFeatures.enabled, tolerationSeconds } = settings;
  checkNames("--enable-admission-plugins", enable);
  checkNames("--disable-admission-plugins", disable);
  const both = enable.find((name) => disable.includes(name));
  if (both !== undefined)
    throw new AdmissionConfigError(
      both,
      "it is named in --enable-admission-plugins and in --disable-admission-plugins",
    );
  const wanted = allPlugins.filter(
    ({ name, byDefault }) => enable.includes(name) || (byDefault && !disable.includes(name)),
  );
  const all: PluginServices = { ...services, requireDefaultAccount, featureEnabled, tolerationSeconds };
  return Promise.all(wanted.map(async ({ name, make }) => make(all, configuration.get(name))));
}

function checkNames(flag: string, names: readonly string[]): void {
  const unknown = names.find((name) => !allPlugins.some((plugin) => plugin.name === name));
  if (unknown !== undefined) throw new AdmissionConfigError(flag, `there is no plugin "${unknown}"`);
}
