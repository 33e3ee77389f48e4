"""Calibration kernels: the only source of measured numbers in a device profile.

``python -m realkernels.microbench --out DIR [--only a,b]`` runs them on the attached GPU and writes one
``DIR/<bench>.json`` each. A bench isolates one mechanism, so that its number can be put into the model as
that mechanism and no technique's own measurement has to be fitted:

============ ==================================================================================================
bench        defines, and why its kernel isolates it
============ ==================================================================================================
issue        issue rate and dependent-issue latency per instruction kind; registers only, so nothing else waits
operands     what FP32 instructions cost that read two registers of one bank; conflicts counted in their SASS
lds          shared-memory latency (chase of one warp), throughput (independent, conflict-free), store-to-load
ldmatrix     the same of ldmatrix; nothing else is there
words        how often loads from shared memory pass whose lanes share words or banks; nothing else is there
banks        the same of loads and stores of any addresses, tiles and by chance; nothing else is there
mma          rate and latency of mma.sync; registers only
wgmma        what wgmma takes, alone, of several warpgroups and beside other warps; operands stay in shared memory
pipes        whether loads from shared memory take turns with other traffic of the SM; nothing waits for anything
masked       what accesses take of that pipe that no lane executes, and the end of a cp.async group; no warp waits
behind       how long a shared load waits behind stores whose queue is full; one warp loads, the others only store
fairness     how evenly a scheduler serves warps of different age; equal work, no barrier, nothing copied
mixed        what warps that do different things get of a scheduler; registers only
placement    which scheduler each warp of a CTA issues on; the hardware slot of each warp is read, nothing timed
local        whether values spilled to local memory are found in L1 again; each thread has its own, nothing is shared
local_hits   how many of them are, by hardware counters; the launches of local
lds_ffma     how load stalls and FFMA issue of co-resident warps interleave; the tile kernels' own inner loop
ahead        what of its latency a shared load shows that is put ahead of its use; one CTA, no barrier, nothing copied
barrier      cost of CTA, named and mbarrier synchronisation and hand-over; nothing is computed or copied
barrier_unit barriers of several CTAs of an SM at the same time; nothing is computed or copied
deferred     what of a CTA barrier passes beside arithmetic; FFMAs or shifts and barriers, with and without a store
syncs        throughput of mbarrier operations on one SM; all warps do nothing else
skeleton     what a turn of a tile pipeline costs besides copies and arithmetic, which it does not have
parting      what it costs when lanes of a warp part ways; a loop of which some have a turn more, nothing else differs
tile_turn    what entering and leaving a short loop over vectors costs; tiles stay in shared memory
turns        how CTAs that wait, meet and compute take turns; copies from L2 or none, all warps do the same
short_ctas   how fast short CTAs issue code that runs once
last_wave    when equal CTAs end and which SMs take those that are left; the same work in all of them
latency      idle load latency by level (L1, near and far L2, DRAM); one lane, each address from the last load
tma          bulk-copy latency, issue cost and bytes in flight; one thread per CTA does nothing else
elected      bulk copies issued by many lanes of a warp; nothing is waited for
alignment    bandwidth of bulk copies and cp.async whose tiles do not start on a line
offset       the same on one SM out of L2, and loads into registers; the other SMs are idle
shifted      cp.async whose destination starts elsewhere in its line than its source; one SM, everything in L2
rows         cp.async of tiles in rows that are further apart in shared memory than what they hold; one SM and all
tma_store    bulk-store drain time and throughput, source reusable and written told apart
cpasync      cp.async issue cost, group latency, throughput; no CTA barrier, each thread waits for its own
meeting      when a warp has its data and when all of its CTA have; nothing is computed
ldg          register loads: latency per batch against loads in flight; the rival of every asynchronous copy
loaded       latency of a chain of loads beside reads or stores of other CTAs
access       strided and random access, loads and stores; no shared memory, no arithmetic
structs      values of a thread side by side, one instruction each, against lane beside lane; nothing is computed
burst        load, wait, spin without a ring: do SMs fall into step on HBM or drift apart
hbm          device-memory bandwidth by read/write mix; everything resident, nothing computed
in_order     writes by CTAs that come and go against those that stay; the same bytes in the same pieces
l2           L2 bandwidth by footprint; past L1, lines dealt anew each pass
far          random sectors from arrays around half of L2; nothing is computed
sharing      what L2 gives to SMs that ask for the same lines; one thread of each copies, nothing is computed
moving_apart how far CTAs that copy the same tiles get from each other, and what L2 gives them; nothing is computed
cluster      what CTAs of a cluster do for each other: multicast, remote arrivals, barriers; nothing is computed
hits         what random reads find in L2, by hardware counters; nothing else runs
dirty        what is written and still in L2 at the end, by hardware counters; nothing else runs
launch       launch, CTA dispatch, CTA turnaround and start skew; CTAs that do nothing or only spin
power        SM clock while tensor cores work, and what L2 and DRAM take meanwhile; no data are moved
clock        SM clock idle, under FFMA and under memory load; cycles over the global timer in one kernel
============ ==================================================================================================

Times inside a kernel are SM cycles (clock64); over several warps from the first start to the last stop.
The first repeat warms the instruction cache and is dropped. ``clock_hz`` in each file converts to seconds.
"""
