import path from "node:path";
import { errorText, ServiceError } from "../../core/service/service-error.ts";

/** Turns PostgreSQL's error into a STORE_… error, as `sqliteFileError` does for SQLite; `place` names host and database. */
export function postgresStoreError(error: unknown, place: string): unknown {
  const code = String((error as { code?: unknown }).code ?? "");
  const message = errorText(error);
  const cause = { cause: error };
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  if (code === "53100")
    return new ServiceError("STORE_FULL", `The disk of ${place} is full`, "Free some space; acknowledged data is safe.", cause);
  if (code === "55P03" || code === "57014") {
    return new ServiceError(
      "STORE_LOCKED",
      `Another program has locked the tables of ${place}`,
      "Close the program that has locked them.",
      cause,
    );
  }
  if (code.startsWith("XX"))
    return new ServiceError("STORE_DAMAGED", `${place} reports damage: ${message}`, "See PostgreSQL's own log.", cause);
  const isConnection = /^(?:08|28|3D|53|57|25006)/.test(code) || /^E[A-Z]+$/.test(code) || /connect|terminated|timeout/i.test(message);
  if (isConnection) {
    return new ServiceError(
      "STORE_UNREACHABLE",
      `${place} cannot be reached: ${message}`,
      "Check that PostgreSQL runs and EVENTS_DB is right.",
      cause,
    );
  }
  return error;
}

/** The message for clients: the kind of fault, and the file's name without its folder. */
export function publicStoreError(error: ServiceError, place: string): string | undefined {
  const name = path.basename(place);
  switch (error.code) {
    case "STORE_FULL":
      return `Storage is full: there is no room for more events in ${name}`;
    case "STORE_LOCKED":
      return `Storage is locked: another program has locked ${name}`;
    case "STORE_DAMAGED":
      return `Storage is damaged: ${name} is not readable and was left unchanged`;
    case "STORE_OUTDATED":
      return `Storage cannot be migrated: ${name} has an unknown format and was left unchanged`;
    case "STORE_UNREACHABLE":
      return `Storage cannot be reached: ${name}`;
    case "STORE_BUSY":
      return "Too many events wait to be stored";
    default:
      return undefined;
  }
}
