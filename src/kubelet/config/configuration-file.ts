/**
 * KubeletConfiguration (kubelet.config.k8s.io/v1beta1): a file, drop-ins over it, and flags over both.
 *
 *     file ──► drop-ins ──► flags ──► defaults ──► checks ──► settings, and the document that /configz shows
 */
import { readFile } from "node:fs/promises";
import { checkDocument, type Document, mergeDocuments, parseDocument, readDropIns, withDefaults } from "./document.ts";
import { type Settings, settingsOf } from "./settings.ts";

export interface KubeletConfiguration {
  readonly settings: Settings;
  /** With all defaults. */
  readonly document: Document;
  /** The fields that somebody has set. */
  readonly set: Document;
  /** Fields that have no effect, with the reason, and fields that nobody knows. */
  readonly ignored: readonly string[];
}

export interface ConfigurationSources {
  readonly file?: string | undefined;
  /** The folder of drop-ins. */
  readonly dropIns?: string | undefined;
  /** What flags say. */
  readonly flags?: Document | undefined;
}

/** Throws Error with one sentence. */
export async function kubeletConfiguration(sources: ConfigurationSources): Promise<KubeletConfiguration> {
  const { file, dropIns, flags = {} } = sources;
  const base = file === undefined ? {} : parseDocument(await readFile(file, "utf8"));
  const over = dropIns === undefined ? [] : await readDropIns(dropIns);
  return configurationOf(mergeDocuments([base, ...over, flags]));
}

/** The same of a text alone. */
export function parseKubeletConfiguration(source: string): KubeletConfiguration {
  return configurationOf(parseDocument(source));
}

function configurationOf(given: Document): KubeletConfiguration {
  const { fields: set, idle, unknown } = checkDocument(given);
  const document = withDefaults(set);
  const ignored = [...idle, ...unknown.map((name) => `${name} (unknown field "${name}")`)];
  return { settings: settingsOf(document), document, set, ignored };
}
