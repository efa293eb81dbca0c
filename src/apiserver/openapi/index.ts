export { answerOpenApi, type OpenApiAnswer, type OpenApiRequest } from "./answer.ts";
export {
  ClientDescriptions,
  clientDescriptions,
  type Descriptions,
  installedDescriptions,
  noDescriptions,
} from "./descriptions.ts";
export { returnsDeletedObject } from "./object-operations.ts";
export { OpenApi, type OpenApiOptions, type RemoteDocuments, serverRelativeUrl } from "./open-api.ts";
export type { RemoteFragment } from "./remote-fragment.ts";
