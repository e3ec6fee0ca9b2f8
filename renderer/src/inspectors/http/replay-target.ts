/**
 * The path and query of a request target in origin or absolute form (RFC 9112 §3.2), as clients put them behind an origin. Undefined for "*", for the host
 * and port of a CONNECT, and for what is cut or read as something else there.
 */
export function pathOfTarget(target: string): string | undefined {
  if (target.includes("#")) return undefined;
  const [server = ""] = /^https?:\/\/[^/?]*/i.exec(target) ?? [];
  const path = target.slice(server.length);
  if (path.startsWith("/")) return path;
  return server === "" ? undefined : `/${path}`;
}
