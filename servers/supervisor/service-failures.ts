import type { Failure } from "../../contract/service.ts";
import type { Service } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";

export const notRunning = (service: Service) =>
  new ServiceError("SERVICE_NOT_RUNNING", `${service.title} is not running`, "Start it first.");

export const notAnswering = (service: Service) =>
  new ServiceError("SERVICE_NOT_ANSWERING", `${service.title} does not answer`, "Wait a moment, or restart it.");

export const timeoutFailure = (service: Service, timeoutMs: number, doing: string | undefined): Failure => ({
  code: "START_TIMEOUT",
  message: `${service.title} did not begin to listen within ${timeoutMs / 1_000} s${doing === undefined ? "" : ` after it last said what it does: ${doing}`}`,
  hint: "See its log, then try again.",
});

export function crashFailure(service: Service, code: number | null, crash: string): Failure {
  const reason = crash.split("\n")[0] || (code === null ? "it was killed" : `exit code ${code}`);
  return {
    code: "CRASHED",
    message: `${service.title} ended unexpectedly: ${reason}`,
    hint: "Its log has the lines before that. Start it again.",
  };
}
