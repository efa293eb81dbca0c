/** The plugins that run: those that are on by default, changed by the flags. */
import type { JsonObject } from "#api";
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
}

/** Throws AdmissionConfigError for names and sections that cannot be used. */
export function selectPlugins(
  { enable = [], disable = [], configuration = new Map(), requireDefaultAccount = false }: AdmissionOptions,
  services: Omit<PluginServices, "requireDefaultAccount">,
): readonly AdmissionPlugin[] {
  checkNames("--enable-admission-plugins", enable);
  checkNames("--disable-admission-plugins", disable);
  const both = enable.find((name) => disable.includes(name));
  if (both !== undefined)
    throw new AdmissionConfigError(
      both,
      "it is named in --enable-admission-plugins and in --disable-admission-plugins",
    );
  return allPlugins.flatMap(({ name, byDefault, make }) => {
    const wanted = enable.includes(name) || (byDefault && !disable.includes(name));
    if (!wanted) return [];
    if (make !== undefined) return [make({ ...services, requireDefaultAccount }, configuration.get(name))];
    if (enable.includes(name) && !byDefault)
      throw new AdmissionConfigError("--enable-admission-plugins", `${name} is not part of this version yet`);
    return [];
  });
}

function checkNames(flag: string, names: readonly string[]): void {
  const unknown = names.find((name) => !allPlugins.some((plugin) => plugin.name === name));
  if (unknown !== undefined) throw new AdmissionConfigError(flag, `there is no plugin "${unknown}"`);
}
