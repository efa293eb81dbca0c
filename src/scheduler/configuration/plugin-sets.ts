/**
 * Which plugins run at which extension point: the defaults, what the file enables and disables, and `multiPoint`.
 *
 * 1. A default plugin that the file enables again keeps its position and takes the file's weight; others come after.
 * 2. At a point, plugins enabled there go before those of `multiPoint` if `multiPoint` has them too; else they come
 *    last. Plugins disabled there are not taken from `multiPoint`; `*` disables all.
 * 3. Exactly one plugin sorts the queue, and at least one binds.
 */
import { ConfigurationError, EXTENSION_POINTS, type ExtensionPoint, type PluginUse } from "../framework/index.ts";
import { DEFAULT_PLUGINS, PLUGIN_POINTS } from "./default-plugins.ts";
import type { FilePluginSet, FilePlugins } from "./file.ts";

interface PluginSet {
  readonly enabled: readonly PluginUse[];
  readonly disabled: ReadonlySet<string>;
}

export type PluginsByPoint = Readonly<Record<ExtensionPoint, readonly PluginUse[]>>;

/** `known`: names of all plugins, including out-of-tree ones. Throws a ConfigurationError. */
export function resolvePlugins(schedulerName: string, file: FilePlugins, known: ReadonlySet<string>): PluginsByPoint {
  const fail = (why: string): never => {
    throw new ConfigurationError(`creating profile for scheduler name ${schedulerName}: ${why}`);
  };
  const multiPoint = merged(DEFAULT_PLUGINS, file.multiPoint ?? {});
  for (const { name } of multiPoint.enabled)
    if (!known.has(name)) fail(`PreFilterPlugin ${JSON.stringify(name)} does not exist`);
  const byPoint = Object.fromEntries(
    EXTENSION_POINTS.map((point) => {
      const own = merged([], file[point] ?? {});
      checkNames(own.enabled, point, known, fail);
      return [point, expanded(point, own, multiPoint, fail)];
    }),
  ) as Record<ExtensionPoint, readonly PluginUse[]>;
  if (byPoint.queueSort.length !== 1)
    fail(
      `only one queue sort plugin required for profile with scheduler name ${JSON.stringify(schedulerName)}, but got ${byPoint.queueSort.length}`,
    );
  if (byPoint.bind.length === 0)
    fail(`at least one bind plugin is needed for profile with scheduler name ${JSON.stringify(schedulerName)}`);
  return byPoint;
}

function merged(defaults: readonly PluginUse[], { enabled = [], disabled = [] }: FilePluginSet): PluginSet {
  const off = new Set(disabled.map(({ name = "" }) => name));
  const named = enabled.map(({ name = "", weight = 0 }): PluginUse => ({ name, weight: weight === 0 ? 1 : weight }));
  const again = new Map(named.map((use) => [use.name, use]));
  const kept = off.has("*") ? [] : defaults.filter(({ name }) => !off.has(name));
  const keptNames = new Set(kept.map(({ name }) => name));
  // A plugin that is enabled twice is kept twice here and reported later.
  const replacing = new Set(named.map(({ name }) => name).filter((name) => keptNames.has(name)));
  return {
    enabled: [
      ...kept.map((use) => again.get(use.name) ?? use),
      ...named.filter((use) => !replacing.has(use.name) || again.get(use.name) !== use),
    ],
    disabled: off,
  };
}

function checkNames(
  uses: readonly PluginUse[],
  point: ExtensionPoint,
  known: ReadonlySet<string>,
  fail: (why: string) => never,
): void {
  const seen = new Set<string>();
  for (const { name } of uses) {
    if (!known.has(name)) fail(`${typeOf(point)} ${JSON.stringify(name)} does not exist`);
    if (!takesPart(name, point)) fail(`plugin ${JSON.stringify(name)} does not extend ${typeOf(point)} plugin`);
    if (seen.has(name)) fail(`plugin ${JSON.stringify(name)} already registered as ${JSON.stringify(typeOf(point))}`);
    seen.add(name);
  }
}

function expanded(
  point: ExtensionPoint,
  own: PluginSet,
  multiPoint: PluginSet,
  fail: (why: string) => never,
): readonly PluginUse[] {
  if (own.disabled.has("*")) return own.enabled;
  const brought: PluginUse[] = [];
  const overriding = new Set<string>();
  for (const use of multiPoint.enabled) {
    if (!takesPart(use.name, point) || own.disabled.has(use.name)) continue;
    if (own.enabled.some(({ name }) => name === use.name)) overriding.add(use.name);
    else if (brought.some(({ name }) => name === use.name))
      fail(`plugin ${JSON.stringify(use.name)} already registered as ${JSON.stringify(typeOf(point))}`);
    else brought.push(use);
  }
  return [
    ...own.enabled.filter(({ name }) => overriding.has(name)),
    ...brought,
    ...own.enabled.filter(({ name }) => !overriding.has(name)),
  ];
}

/** Out-of-tree plugins run at all points that they have a stage for, except that queueSort has to be explicit. */
function takesPart(name: string, point: ExtensionPoint): boolean {
  return PLUGIN_POINTS.get(name)?.includes(point) ?? point !== "queueSort";
}

/** `ScorePlugin`. */
function typeOf(point: ExtensionPoint): string {
  return `${point.charAt(0).toUpperCase()}${point.slice(1)}Plugin`;
}
