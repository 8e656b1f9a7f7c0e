import { mapState, type MapStateDescriptor } from '../state.ts';
import type { Window } from './window-assigner.ts';

/**
 * - `open`: its end is to come.
 * - `fired`: the watermark has reached its end; each further event gives a late update.
 * - `flushed`: it was closed before its end, likewise.
 */
export type WindowStage = 'open' | 'fired' | 'flushed';

/** What a key keeps of a window, from its first event until its lateness has passed. */
export interface HeldWindow extends Window {
  stage: WindowStage;
  /** Events since the last result. */
  unreported: number;
  accumulator: unknown;
  /** Sessions only: windows of results so far that are in this one. */
  reported: readonly Window[];
}

const stages: readonly WindowStage[] = ['open', 'fired', 'flushed'];

type StoredWindow = [
  start: number,
  end: number,
  stage: number,
  unreported: number,
  accumulator: unknown,
  reported: [start: number, end: number][],
];

/** The windows of a key by their start. Two of a key never begin at the same time. */
export function heldWindows(): MapStateDescriptor<HeldWindow> {
  return mapState<HeldWindow>({ codec: { encode: encodeWindow, decode: decodeWindow } });
}

function encodeWindow(window: HeldWindow): StoredWindow {
  const { start, end, stage, unreported, accumulator, reported } = window;
  const spans = reported.map((span): [number, number] => [span.start, span.end]);
  return [start, end, stages.indexOf(stage), unreported, accumulator, spans];
}

function decodeWindow(stored: unknown): HeldWindow {
  const [start, end, stage, unreported, accumulator, spans] = stored as StoredWindow;
  const reported = spans.map(([from, to]) => ({ start: from, end: to }));
  return { start, end, stage: stages[stage]!, unreported, accumulator, reported };
}
