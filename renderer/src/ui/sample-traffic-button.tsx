import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";

interface SampleTrafficButtonProps {
  readonly playing: boolean;
  readonly words?: { readonly start: string; readonly stop: string };
  /** It is the first thing to do here. */
  readonly primary?: boolean;
  readonly onToggle: () => void;
}

const sampleTraffic = { start: "Send sample traffic", stop: "Stop sample traffic" };

export function SampleTrafficButton({ playing, words = sampleTraffic, primary = true, onToggle }: SampleTrafficButtonProps) {
  const Icon = playing ? IconPlayerStop : IconPlayerPlay;
  return (
    <Button size="md" variant={primary && !playing ? "filled" : "default"} leftSection={<Icon size={15} stroke={1.5} />} onClick={onToggle}>
      {playing ? words.stop : words.start}
    </Button>
  );
}
