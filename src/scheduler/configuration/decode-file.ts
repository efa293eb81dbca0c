/**
 * Decodes the file strictly: unknown fields are refused, not ignored.
 *
 * 1. All unknown fields are reported at once, with their paths; a value of the wrong type ends decoding.
 * 2. Arguments of out-of-tree plugins are not decoded here.
 */
import {
  DecodeError,
  decode,
  isObject,
  type Json,
  type JsonObject,
  type ObjectSchema,
  parseYaml,
  unknownField,
  YamlSyntaxError,
} from "#api";
import { ConfigurationError, type PluginArguments } from "../framework/index.ts";
import type { ConfigurationFile } from "./file.ts";
import { argumentSchemas, CONFIG_GROUP, CONFIG_KIND, CONFIG_VERSION, fileSchema } from "./file-schema.ts";

export function decodeFile(content: string): ConfigurationFile {
  const { value, duplicates } = parsed(content);
  if (!isObject(value)) throw new ConfigurationError(`the file does not contain a ${CONFIG_KIND}`);
  checkKind(value);
  if (duplicates !== undefined) throw new ConfigurationError(`strict decoding error: ${duplicates}`);
  return strict(fileSchema, value, (fault) => fault) as ConfigurationFile;
}

function parsed(content: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(content);
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw new ConfigurationError(error.message, { cause: error });
    throw error;
  }
}

function checkKind(value: JsonObject): void {
  const { kind, apiVersion } = value;
  if (kind === undefined || kind === "")
    throw new ConfigurationError(`Object 'Kind' is missing in '${JSON.stringify(value)}'`);
  if (apiVersion === undefined || apiVersion === "")
    throw new ConfigurationError(`Object 'apiVersion' is missing in '${JSON.stringify(value)}'`);
  if (kind !== CONFIG_KIND || apiVersion !== CONFIG_VERSION)
    throw new ConfigurationError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}: ${CONFIG_KIND} of ${CONFIG_VERSION} is needed`,
    );
}

/** `where`: `.profiles[0].pluginConfig[1]`. */
export function decodeArguments(plugin: keyof PluginArguments, args: Json | undefined, where: string): JsonObject {
  if (args === undefined || args === null) return {};
  const withContext = (fault: string) => `decoding ${where}: decoding args for plugin ${plugin}: ${fault}`;
  if (!isObject(args)) throw new ConfigurationError(withContext("args have to be an object"));
  const wanted = `${plugin}Args`;
  const { kind = wanted, apiVersion = CONFIG_VERSION } = args;
  if (kind !== wanted || apiVersion !== CONFIG_VERSION) {
    const group = String(apiVersion).split("/")[0] ?? "";
    throw new ConfigurationError(
      `decoding ${where}: args for plugin ${plugin} were not of type ${wanted}.${CONFIG_GROUP}, got ${String(kind)}.${group}`,
    );
  }
  return strict(argumentSchemas[plugin], args, withContext);
}

function strict(schema: ObjectSchema, value: Json, message: (fault: string) => string): JsonObject {
  const decoded = decodedOr(schema, value, message);
  if (decoded.unknown.length > 0)
    throw new ConfigurationError(message(`strict decoding error: ${decoded.unknown.map(unknownField).join(", ")}`));
  return decoded.value as JsonObject;
}

function decodedOr(schema: ObjectSchema, value: Json, message: (fault: string) => string): ReturnType<typeof decode> {
  try {
    return decode(schema, value);
  } catch (error) {
    if (error instanceof DecodeError) throw new ConfigurationError(message(error.message), { cause: error });
    throw error;
  }
}
