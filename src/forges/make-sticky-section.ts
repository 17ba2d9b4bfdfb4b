import { findSection, replaceSection } from '../report/formats/comment-sections.ts';
import type { SizeLimit } from '../report/formats/markdown-sections.ts';
import { hasSameText } from './update-sticky-text.ts';

/** How a job replaces its own section of a sticky text. */
export type StickySection = {
  /** Returns the text with the section that this job writes. Receives the posted text, or null if there is none. */
  readonly makeBody: (posted: string | null) => string;
  /** Returns the part of the posted text that the job replaces. Null if the text does not have it yet. */
  readonly findOwnPart: (posted: string) => string | null;
  /** Returns true if the posted text already contains the section of this job. */
  readonly isComplete: (posted: string) => boolean;
};

type SectionSource = {
  readonly marker: string;
  /** The environments that the job covers. */
  readonly environments: readonly string[];
  /** The configured environments, in promotion order. Empty if the configuration lists none. */
  readonly promotionOrder: readonly string[];
  /** The maximum length of the whole text. */
  readonly limit: SizeLimit;
  readonly render: (limit: SizeLimit) => string;
};

/** The minimum length of a section: room for the outcome, the reason for a failure, and a note about missing parts. */
const MIN_SECTION_LENGTH = 4_500;

/** Builds the rules by which a job that covers only some environments replaces its own section. */
export function makeStickySection(source: SectionSource): StickySection {
  const { marker, environments, promotionOrder, limit, render } = source;
  const renderFor = (posted: string): string => {
    const rest = limit.measure(replaceSection(posted, environments, ''));
    return render({ ...limit, most: Math.max(limit.most - rest, MIN_SECTION_LENGTH) });
  };
  return {
    makeBody: (posted) => {
      const body = posted ?? marker;
      return replaceSection(body, environments, renderFor(body), promotionOrder);
    },
    findOwnPart: (posted) => findSection(posted, environments),
    isComplete: (posted) => hasSameText(findSection(posted, environments), renderFor(posted).trim()),
  };
}
