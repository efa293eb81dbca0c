export { DEFINITIONS, type DefinitionOptions, definition, SPEC_AND_STATUS, widget } from "./definitions.ts";
export {
  type Behaviour,
  type ConversionQuestion,
  renaming,
  reviewed,
  type TestWebhook,
  testWebhook,
} from "./webhook.ts";
