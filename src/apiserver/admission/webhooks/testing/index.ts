export {
  type AdmissionWebhook,
  admissionWebhook,
  allowing,
  answering,
  CONFIG_MAPS,
  configure,
  encoded,
  patching,
  type Review,
} from "./admission-webhook.ts";
