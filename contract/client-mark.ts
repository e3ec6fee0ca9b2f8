/** Marks behind the software of a row's client, for what Backlot sent itself: services write them, lists show them. */
const endings = { sample: " (sample)", "sent again": " (sent again)", "from Try": " (from Try)" } as const;

export type ClientMark = keyof typeof endings;

const allMarks = Object.keys(endings) as ClientMark[];

export const markedClient = (software: string, mark: ClientMark): string => `${software}${endings[mark]}`;

export interface MarkedClient {
  readonly software: string;
  readonly mark: ClientMark | undefined;
}

export function readClient(client: string): MarkedClient {
  const mark = allMarks.find((one) => client.endsWith(endings[one]));
  return { software: mark ? client.slice(0, -endings[mark].length) : client, mark };
}

/** MQTT's sample is no client. */
export const isSampleClient = (client: string): boolean => client.endsWith(endings.sample) || client === "sample traffic";
