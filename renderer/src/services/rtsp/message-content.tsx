import { useMemo } from "react";
import { HeaderListView } from "../../inspectors/header-list.tsx";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { readMessage } from "./read-message.ts";

/** RFC 2326 §3.4: it names the session, as its tab does, and is no credential of a user. */
const plainFields = ["session"];

interface MessageContentProps {
  /** "Request" */
  readonly title: string;
  readonly message: Parameters<typeof readMessage>[0];
}

/** Header fields and body of a request or an answer. */
export function MessageContent({ title, message }: MessageContentProps) {
  const { headers, body, bodyBytes, contentType } = useMemo(() => readMessage(message), [message]);
  return (
    <>
      <HeaderListView title={title} headers={headers} plain={plainFields} />
      {bodyBytes > 0 && (
        <ContentViewer
          of="message"
          content={{ bytes: body, totalBytes: bodyBytes }}
          contentType={contentType}
          isText
          rememberAs={`rtsp ${contentType}`}
          cutBy="Recorded message"
        />
      )}
    </>
  );
}
