import { percentDecoded } from "../../../contract/percent-decoded.ts";
import { withoutSlashes } from "../protocol/header-fields.ts";
import type { RtmpPublish } from "./worker-messages.ts";

/**
 * The path is the application and the name of the stream. The user comes in the query of either (`live/name?user=anna&pass=secret`), since
 * RTMP has no place of its own for it, or in the server's URL (`rtmp://anna:secret@host/live`), where clients send it.
 */
export function targetOf(app: string, streamName: string, serverUrl: string): Pick<RtmpPublish, "path" | "user" | "password"> {
  const [appPath = "", appQuery = ""] = splitQuery(app);
  const [namePath = "", nameQuery = ""] = splitQuery(streamName);
  const path = [appPath, namePath]
    .map(withoutSlashes)
    .filter((part) => part !== "")
    .join("/");
  const query = new URLSearchParams(`${appQuery}&${nameQuery}`);
  const url = URL.parse(serverUrl);
  const ofUrl = (text: string | undefined) => (text ? decoded(text) : undefined);
  return {
    path: decoded(path),
    user: query.get("user") ?? ofUrl(url?.username),
    password: query.get("pass") ?? query.get("password") ?? ofUrl(url?.password),
  };
}

const splitQuery = (text: string): readonly string[] => {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

const decoded = (text: string): string => percentDecoded(text) ?? text;
