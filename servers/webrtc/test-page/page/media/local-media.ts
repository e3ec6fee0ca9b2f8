import { insecurePage, type MediaProblem, mediaProblemOf } from "./media-problem.ts";
import { createTestPicture, type TestPicture } from "./test-picture.ts";

export type MediaSource = "test" | "camera";

export interface LocalMediaState {
  readonly source: MediaSource;
  readonly stream: MediaStream;
  readonly isOpening: boolean;
  readonly problem: MediaProblem | undefined;
}

const wanted: MediaStreamConstraints = { video: { width: { ideal: 1_280 }, height: { ideal: 720 } }, audio: true };

/** What this page sends: the test picture at first, or the camera. A store for React. */
export class LocalMedia {
  /** Written into the test picture: of this window, since others of the browser may have another one. */
  name: string;
  state: LocalMediaState;
  readonly #picture: TestPicture;
  readonly #listeners = new Set<() => void>();
  readonly #onStream: (stream: MediaStream) => void;
  #camera: MediaStream | undefined;

  constructor(name: string, onStream: (stream: MediaStream) => void) {
    this.name = name;
    this.#picture = createTestPicture(() => this.name);
    this.#onStream = onStream;
    this.state = { source: "test", stream: this.#picture.stream, isOpening: false, problem: undefined };
    onStream(this.state.stream);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getState = (): LocalMediaState => this.state;

  /** After a click. */
  resume(): void {
    this.#picture.resume();
  }

  async choose(source: MediaSource): Promise<void> {
    this.resume();
    if (source === "test") {
      this.#use("test", this.#picture.stream);
      this.#closeCamera();
      return;
    }
    const insecure = insecurePage();
    if (insecure) {
      this.#set({ problem: insecure });
      return;
    }
    this.#set({ isOpening: true, problem: undefined });
    try {
      this.#camera = await openCamera();
      this.#use("camera", this.#camera);
    } catch (error) {
      this.#set({ isOpening: false, problem: mediaProblemOf(error) });
    }
  }

  #use(source: MediaSource, stream: MediaStream): void {
    this.#set({ source, stream, isOpening: false, problem: undefined });
    this.#onStream(stream);
  }

  #closeCamera(): void {
    for (const track of this.#camera?.getTracks() ?? []) track.stop();
    this.#camera = undefined;
  }

  #set(change: Partial<LocalMediaState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** A camera without a microphone is taken too. */
async function openCamera(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia(wanted);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "NotFoundError")) throw error;
    return await navigator.mediaDevices.getUserMedia({ ...wanted, audio: false });
  }
}
