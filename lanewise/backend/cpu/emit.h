// Machine code generation, first half: lane form to vector LLVM IR.
//
// A varying register becomes `interleave` values of exactly one machine register each, never one
// wide value: LLVM handles masks wider than a register badly. Every instruction is emitted for all
// of them before the next one, so their latencies overlap. Registers that are assigned more than
// once live in stack slots; LLVM's sroa turns those into phis.
//
// emit.cpp, memory.cpp, neighbours.cpp, few_places.cpp, byte_functions.cpp, rows.cpp and
// streaming.cpp have the parts all schedules share, packets.cpp, refill.cpp and inner.cpp one
// schedule each.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <set>
#include <span>

#include "lanewise/backend/cpu/estimates.h"
#include "lanewise/backend/cpu/lane_ops.h"
#include "lanewise/kernel/lane.h"

namespace lw::backend::cpu {

/// Adds `runtime::Status name(runtime::Context*, i64 first, i64 count)` to the module.
void emit(llvm::Module& module, const std::string& name, const kernel::Kernel& kernel,
          const plan::Schedule& schedule);

class Emitter {
 public:
  Emitter(llvm::Module& module, const std::string& name, const kernel::Kernel& kernel,
          const plan::Schedule& schedule);
  void packets();
  void refill();
  void inner();

 private:
  using Values = llvm::SmallVector<llvm::Value*, 4>;

  // --- registers ---
  bool is_varying(kernel::RegisterId r) const { return k_.registers[r].varying; }
  DType type(kernel::RegisterId r) const { return k_.registers[r].type; }
  /// The one instruction that assigns `r`; null where there are several.
  const kernel::Instruction* made_by(kernel::RegisterId r) const {
    return assignments_[r] == 1 ? definition_[r] : nullptr;
  }
  /// What computes `r` by this op, or null.
  const kernel::Instruction* computed_by(kernel::RegisterId r, ops::Op op) const {
    const kernel::Instruction* in = made_by(r);
    return in != nullptr && in->kind == kernel::Kind::Compute && in->op == op ? in : nullptr;
  }
  /// The value of `r` in register `u`; a uniform one is spread over the lanes if `lanes`.
  llvm::Value* read(kernel::RegisterId r, int u, bool lanes);
  /// What was last written to `r` in register `u`.
  llvm::Value* written(kernel::RegisterId r, int u);
  void write(kernel::RegisterId r, int u, llvm::Value* value);
  Values read_all(kernel::RegisterId r);
  llvm::Value* new_slot(llvm::Type* type, const llvm::Twine& name);
  /// Gives `r` a slot per interleaved register (one, if uniform).
  Values new_slots(kernel::RegisterId r);

  // --- shared by both schedules ---
  void count_assignments();
  void hoist_uniform();
  /// True when the instruction only touches its own lanes.
  bool is_local(const kernel::Instruction& in) const;
  bool is_skipped(const kernel::Instruction& in) const;
  void block(kernel::BlockId id);
  /// Steps `first` to `end` of the `count` between two looks.
  void steps(kernel::BlockId id, int first, int end, int count);
  void instruction(const kernel::Instruction& in);
  void instructions(std::span<const kernel::Instruction> run);
  void in_turns(std::span<const kernel::Instruction> run);
  void compute(const kernel::Instruction& in);
  Estimate estimate_of(const kernel::Instruction& in) const {
    return in.dst == kernel::kNone ? Estimate::None : estimates_[in.dst];
  }
  llvm::Value* estimated(const kernel::Instruction& in, int u);
  llvm::Value* loaded_difference(const kernel::Instruction& in, int u);
  bool ends_part(const kernel::Instruction& in) const {
    const Estimate how = estimate_of(in);
    return how == Estimate::InvertedRoot || how == Estimate::ReciprocalOfRoot;
  }
  /// x + (mask and c) for select(mask, x + c, x): one instruction less without mask registers.
  llvm::Value* masked_add(const kernel::Instruction& in, int u);
  llvm::Value* add_of_mask(const kernel::Instruction& in, int u);
  bool stand_together(const kernel::Instruction& first, const kernel::Instruction& second) const;
  /// Bytes that a register of lanes of this type has in memory.
  std::uint64_t packet_bytes(DType type) const {
    return static_cast<std::uint64_t>(s_.lanes) * types::size_of(type);
  }
  void branch(const kernel::Instruction& in);
  llvm::MDNode* unlikely();
  bool asks_for_lanes(const kernel::Instruction& branch) const;
  void block_of_all(const kernel::Instruction& branch, llvm::BasicBlock* common);
  /// i1: some lane of the mask is set.
  llvm::Value* any_of(kernel::RegisterId mask);
  llvm::Type* register_type(kernel::RegisterId r) const;
  void loop(const kernel::Instruction& in);
  /// Finds `checks_`.
  void find_checks();
  /// `in` takes lanes that fail out of a mask: says so, of all registers together.
  struct IndexCheck {
    const kernel::Instruction* bits;  // of the index
    kernel::RegisterId limit;
  };
  std::optional<IndexCheck> index_check(const kernel::Instruction& in) const;
  void narrow(const kernel::Instruction& in, const kernel::Instruction& fail);
  void fail(const kernel::Instruction& in);
  /// The tables that are at least as long as the limit of a check.
  void find_tables(kernel::RegisterId limit, std::set<std::uint32_t>& tables) const;
  /// Where lanes of register `u` read, and which of them: all, where a check saw to the others.
  std::pair<llvm::Value*, llvm::Value*> place_in_table(const kernel::Instruction& in, int u);
  /// If `any`: lanes of `failing(u)` fail, and leave these masks.
  void fail_if(llvm::Value* any, std::uint32_t site, const kernel::Sources& masks,
               llvm::function_ref<llvm::Value*(int u)> failing);
  void store(const kernel::Instruction& in);
  void masked_packets();
  void straight_packets();

  // --- stores past the caches (streaming.cpp) ---
  llvm::Value* may_stream();
  /// The outputs are larger than the caches and begin at whole registers.
  llvm::Value* can_stream();
  void store_streaming(const kernel::Instruction& in);
  /// Inner: nobody reads what is written there.
  bool is_last_write(const kernel::Instruction& in) const;
  bool stream_positions(const Values& values, const Values& places, const Values& masks, DType type,
                        llvm::function_ref<void()> plain);
  void where_streams(llvm::Value* streams, llvm::function_ref<void()> past,
                     llvm::function_ref<void()> plain);
  void store_past(llvm::Value* value, llvm::Value* place, std::uint64_t align);
  void finish_streams(llvm::Value* streams);

  // --- blocks as functions of their own (outline.cpp) ---
  void part(const kernel::Instruction& in);
  void call_rare(kernel::BlockId id);
  bool is_closed(kernel::BlockId id) const;
  /// What a block reads of the world around it, and what it assigns that is read there.
  struct Interface {
    std::vector<kernel::RegisterId> inputs, outputs;
    std::vector<std::uint64_t> key;  // all there is to the block: equal ones do the same
  };
  const Interface& interface_of(kernel::BlockId id);
  /// The block as a function of its own for `width` interleaved registers: of a frame in memory
  /// with inputs and outputs if it is rare, else from values to a struct of values.
  llvm::Function* block_function(kernel::BlockId id, int width, bool rare);
  llvm::StructType* frame_type(const Interface& of) const;
  /// How a value of `r` is handed over: a mask of bits as an integer.
  llvm::Type* passed_type(kernel::RegisterId r) const;
  int copies(kernel::RegisterId r) const { return is_varying(r) ? width_ : 1; }

  // --- arrays and tables (memory.cpp) ---
  void element(const kernel::Instruction& in);
  void table_read(const kernel::Instruction& in);
  void table_write(const kernel::Instruction& in);
  void array_fill(const kernel::Instruction& in);
  void array_read(const kernel::Instruction& in);
  void array_write(const kernel::Instruction& in);
  llvm::Value* table_field(std::uint32_t table, int offset, llvm::Type* type);
  llvm::Value* gather_small(std::size_t size, llvm::Value* base, llvm::Value* index,
                            llvm::Value* live);
  llvm::Value* gather_pairs(llvm::Type* lanes, llvm::Value* base, llvm::Value* index);
  llvm::Value* gather(DType type, llvm::Value* base, llvm::Value* index, llvm::Value* mask);
  /// What lanes of `mask` read from a table.
  llvm::Value* table_lanes(const kernel::Instruction& in, llvm::Value* index, llvm::Value* mask);

  // --- small values one behind the other (neighbours.cpp) ---
  /// Finds reads of small values whose place is one further at each step of their loop.
  void find_neighbours();
  /// What a loop changes: by which instruction; null: by several.
  using Changes = std::map<kernel::RegisterId, const kernel::Instruction*>;
  void find_neighbours(kernel::BlockId block, kernel::RegisterId mask, const Changes& changes);
  bool counts_up(kernel::RegisterId r, kernel::RegisterId mask, const Changes& changes) const;
  /// A table that can be read word by word, and the last place where a whole word is.
  struct WordTable {
    llvm::Value* words;
    llvm::Value* last;
  };
  WordTable word_table(std::uint32_t table);
  llvm::Value* gather_word(const kernel::Instruction& in, int u);
  /// A table that is read by several words: the last place that has so many, the first one that is
  /// in a copy of the end, and that copy.
  struct LongTable {
    llvm::Value* last;
    llvm::Value* first;
    llvm::Value* end;
  };
  LongTable long_table(std::uint32_t table);
  void add_neighbours(const kernel::Instruction& in);
  void ask_for(llvm::Value* address);
  void load_words(const kernel::Instruction& in, int u);
  void take_words(const kernel::Instruction& in);
  void forget_words(kernel::BlockId loop);
  void read_neighbours(const kernel::Instruction& in);

  // --- tables in registers (few_places.cpp) ---
  struct FewPlaces {
    Values registers;  // all that is read of the table
    // What stands at the first places, and at the first of each register, of one that is linear.
    llvm::Value* low = nullptr;
    llvm::Value* high = nullptr;
    llvm::Value* is_linear = nullptr;
  };
  void find_few_places();
  void find_linear(FewPlaces& few);
  void read_linear(const kernel::Instruction& in, const FewPlaces& few);
  llvm::Value* places_from(std::uint32_t table, unsigned number, unsigned places);
  llvm::Value* permuted(const Values& registers, llvm::Value* index);
  llvm::Value* look_up(const Values& registers, llvm::Value* index);
  llvm::Value* lane_places(llvm::Value* index);

  // --- functions of a byte (byte_functions.cpp) ---
  struct ByteTable {
    kernel::RegisterId argument;
    Values registers;  // all results
  };
  struct ByteFunction;
  struct Touched;
  void find_byte_functions();
  Touched touched_by(const kernel::Instruction& in) const;
  bool is_step(const kernel::Instruction& in) const;
  std::optional<ByteFunction> byte_function(std::span<const kernel::Instruction> up_to) const;
  bool is_worth_a_table(const ByteFunction& f) const;
  ByteTable byte_table(const ByteFunction& f) const;
  void leave_out_steps(const ByteFunction& f);
  void look_up_bytes(const kernel::Instruction& in, const ByteTable& table);
  llvm::Value* byte_results(const ByteTable& table, llvm::Value* bytes);

  llvm::Value* array_row(const kernel::Instruction& in, int u, llvm::Value* place);
  /// Numbers of the elements in register `u`, counted from the first of the chunk.
  llvm::Value* lane_ids(int u);

  // --- rows of lanes (rows.cpp) ---
  void row_read(const kernel::Instruction& in);
  void row_load(const kernel::Instruction& in);
  void load_short_rows(const kernel::Instruction& in, int u);
  bool is_square_shorter(const kernel::Array& array) const;
  Values load_square(llvm::Value* base, const kernel::Array& array, unsigned first);
  void store_square(llvm::Value* base, const kernel::Array& array, unsigned first,
                    llvm::ArrayRef<llvm::Value*> places);
  void transpose(Values& square);
  /// A mask whose first lanes are set.
  llvm::Value* first_lanes(unsigned count);
  void store_short_rows(const kernel::Instruction& in, int u);
  llvm::Value* packet_rows(llvm::Value* base, const kernel::Array& array, int u);
  llvm::Value* pick_lanes(const Values& registers,
                          llvm::function_ref<std::pair<unsigned, unsigned>(unsigned)> from);
  void gather_rows(const kernel::Instruction& in, int u);
  void where_all_hold(int u, llvm::function_ref<void()> all, llvm::function_ref<void()> some);
  void row_store(const kernel::Instruction& in);
  void store_row_by_row(const kernel::Instruction& in, int u);
  /// Copies an array between lanes and the rows that `pointers` has.
  void transpose_rows(const kernel::Array& array, llvm::Value* lanes, llvm::Value* pointers,
                      bool to_rows);
  llvm::Function* transpose_function(DType type, bool to_rows);
  /// A slot with where each lane of register `u` has its row; dead ones have that of the first.
  llvm::Value* row_pointers(llvm::Value* base, const kernel::Array& array, int u);
  llvm::Value* rows_of_lanes(llvm::Value* base, types::Item item, int u, llvm::Value*& offsets);

  /// Calls a function at the context's `field` that keeps all registers (enter.h) where it can.
  llvm::Value* call_out(int field, const char* entry, llvm::Type* result,
                        llvm::ArrayRef<llvm::Value*> arguments);
  /// Goes on in a new block unless a poll says stop, at the back edge of the loop with this body.
  /// `note` emits what is said there beside that.
  void poll(kernel::BlockId loop, llvm::function_ref<void()> note = nullptr);
  bool is_innermost(kernel::BlockId id) const;

  // --- memory ---
  /// Packet: number of the first element of register `u`.
  llvm::Value* packet_index(int u);
  llvm::Type* memory_type(DType type, bool lanes) const;
  llvm::Value* from_memory(DType type, llvm::Value* value);
  llvm::Value* to_memory(DType type, llvm::Value* value);
  llvm::Value* element_pointer(llvm::Value* base, DType type, llvm::Value* index);
  /// A loop that emits `body(i)` for i from 0 to below `count`, both i32.
  void count_to(llvm::Value* count, llvm::function_ref<void(llvm::Value*)> body);
  llvm::Value* context_place(int offset);
  llvm::Value* context_field(int offset, llvm::Type* type);
  llvm::Value* load_lanes(std::uint32_t input, llvm::Value* index, llvm::Value* mask);

  // --- inner ---
  void each(const kernel::Instruction& in);
  void known_positions(const kernel::Instruction& in, bool combines);
  void counted_positions(const kernel::Instruction& in, bool combines);
  int registers_a_step(bool combines, int most) const;
  llvm::Value* whole_step(const kernel::Instruction& in, llvm::Value* slot);
  /// The block of an `each` for so many registers of positions; register 0 would begin at `first`.
  void positions(const kernel::Instruction& in, int begin, int width, llvm::Value* first,
                 bool masked);
  void collect(const kernel::Instruction& in);
  llvm::Value* combined(const kernel::Instruction& in);
  llvm::Value* combined_by_count(const kernel::Instruction& in);
  llvm::Value* fused_sum(const kernel::Instruction& in, llvm::Value* old, int u);
  llvm::Value* best_place(const kernel::Instruction& in);
  llvm::Value* combine(const kernel::Instruction& in, llvm::Value* a, llvm::Value* b);
  llvm::Value* neutral(const kernel::Instruction& in);
  llvm::Value* stripe_slot(llvm::Value* rows, llvm::Value* row);
  Values stripe_values(llvm::Value* rows, DType type);
  void leave_element(const kernel::Instruction& in);
  /// The first of the values that an access in a kernel for positions has, and their type.
  llvm::Value* flat_values(const kernel::Instruction& in, DType& type);
  void flat_read(const kernel::Instruction& in);
  void flat_write(const kernel::Instruction& in);
  void flat_fill(const kernel::Instruction& in);
  /// Where the places of register `u` begin, if they follow one another.
  llvm::Value* steps_from_first(const kernel::Instruction& in, int u);
  llvm::Value* stepped_pointer(const kernel::Instruction& in, llvm::Value* base, DType type, int u);
  bool is_flat(const kernel::Instruction& in) const;

  // --- refill ---
  /// Sorts block 0 into what comes before, in and after its loop, and gives slots to what crosses.
  void split();
  /// Lanes of `fill` in register `u` take the elements `ids`: runs the prologue for them.
  void take(int u, llvm::Value* fill, llvm::Value* rank, llvm::Value* ids, bool first);
  /// Runs the epilogue for the lanes of `done` in register `u`.
  void retire(int u, llvm::Value* done, bool all_hold_elements);
  void refill_all();
  /// i32: how many lanes are in the loop.
  llvm::Value* count_live();
  /// Lets the context say that so many lanes are.
  void note_live(llvm::Value* live);
  void body_steps(int first, int end, int count);
  void enter_body();
  /// Lane i of the result: how many lanes before i are set in `mask`; counts for set lanes.
  llvm::Value* rank(llvm::Value* mask);
  llvm::Value* rank_table();
  /// Lane i gets the value of element next + rank[i], where `fill` is set.
  llvm::Value* expand_load(std::uint32_t input, int u);
  llvm::Value* permute(llvm::Value* lanes, llvm::Value* rank);
  /// Stores without a scatter instruction: at once where all lanes hold elements, else staged.
  void scatter_lanes(std::uint32_t output, int u, llvm::Value* ids, llvm::Value* value);
  /// Stores what was staged, for the lanes that hold an element.
  void store_staged();

  llvm::BasicBlock* new_block(const llvm::Twine& name);

  static constexpr int kMostPositions = 8;  // registers of positions in one step

  llvm::Module& module_;
  const kernel::Kernel& k_;
  const plan::Schedule& s_;
  llvm::IRBuilder<> b_;
  LaneOps ops_;
  int width_;  // interleaved registers that are being emitted: [begin_, begin_ + width_)
  int begin_ = 0;
  int most_;   // registers that can be in flight at once
  int group_;  // interleaved registers that are emitted together: as many as machine registers hold

  llvm::Function* function_ = nullptr;
  llvm::Value* context_ = nullptr;
  llvm::Value* first_ = nullptr;
  llvm::Value* count_ = nullptr;  // i32
  Values inputs_, outputs_;
  llvm::BasicBlock* stopped_ = nullptr;
  int step_ = 0, step_count_ = 1;         // which of how many steps between two looks
  std::vector<llvm::BasicBlock*> exits_;  // of the loops and branches around, the innermost last
  Values tables_;                         // their first values
  std::vector<Values> arrays_;            // by array and register
  std::map<std::uint32_t, FewPlaces> few_places_;  // by table
  std::map<const kernel::Instruction*, ByteTable> byte_tables_;
  /// By what takes lanes out of a mask: the instruction that would say later that these fail.
  std::map<const kernel::Instruction*, const kernel::Instruction*> checks_;
  std::set<const kernel::Instruction*> said_;  // those
  /// An index of which all lanes are inside of these tables, up to the end of straight code.
  struct Place {
    Values slots;
    std::set<std::uint32_t> tables;
  };
  std::map<kernel::RegisterId, Place> places_;
  std::map<std::uint32_t, WordTable> word_tables_;
  std::map<std::uint32_t, LongTable> long_tables_;
  /// Slots of a register of lanes that reads its table word by word.
  struct Neighbours {
    llvm::Value* word;             // that this step and the next few read
    llvm::Value* words = nullptr;  // that were loaded together
    llvm::Value* next = nullptr;   // which of those comes next; 0: they are to be loaded
  };
  std::map<const kernel::Instruction*, std::vector<Neighbours>> neighbours_;
  bool has_numbers_ = false;  // elements ask for their numbers
  llvm::Value* ids_memory_ = nullptr;

  std::vector<int> assignments_;                        // by register
  std::vector<Estimate> estimates_;                     // by register
  std::vector<bool> hoisted_;                           // by register
  std::set<const kernel::Instruction*> done_;           // before the first element
  std::vector<Values> values_;                          // by register: SSA values
  std::vector<Values> slots_;                           // by register: stack slots, empty if none
  std::vector<const kernel::Instruction*> definition_;  // by register: where it is assigned once

  // What `load`, `active`, `store` and `fail` mean at the moment.
  enum class Phase { Packet, Prologue, Body, Epilogue } phase_ = Phase::Packet;
  Values held_;                     // per register: lanes that hold an element; Epilogue: are done
  bool masked_ = true;              // Packet: some lanes may hold no element
  llvm::Value* streams_ = nullptr;  // what is stored may go past the caches, if this is set
  llvm::Value* base_ = nullptr;     // Packet: number of the packet's first element, i32

  // Inner.
  llvm::Value* element_ = nullptr;    // number of the element in the chunk, i32
  llvm::Value* position_ = nullptr;   // of the first lane, i32
  llvm::Value* positions_ = nullptr;  // how many there are, i32
  int each_width_ = 1;                // registers of positions where nothing is combined
  int step_registers_ = 1;            // registers of positions in a step without masks
  llvm::BasicBlock* next_element_ = nullptr;
  /// What an `each` has combined so far: rows of lanes with its stripes, and their places.
  struct Stripes {
    llvm::Value* values = nullptr;
    llvm::Value* places = nullptr;
  };
  std::map<kernel::RegisterId, Stripes> stripes_;

  std::vector<int> reads_;  // by register: instructions that read it
  std::map<kernel::BlockId, Interface> interfaces_;
  std::map<std::pair<std::vector<std::uint64_t>, int>, llvm::Function*> functions_;  // key, width
  std::map<std::pair<llvm::Function*, llvm::Function*>, llvm::Value*> frames_;  // caller, called
  std::map<std::pair<DType, bool>, llvm::Function*> transposes_;                // type, to rows

  // Refill.
  const kernel::Instruction* loop_ = nullptr;
  std::vector<const kernel::Instruction*> before_, after_;
  std::vector<kernel::RegisterId> crossing_;  // varying, assigned before the loop, read later
  Values ids_;                                // slots: number of the element each lane holds
  llvm::Value* next_ = nullptr;               // slot: number of the next element
  llvm::Value *fill_ = nullptr, *rank_ = nullptr, *take_ids_ = nullptr;  // Prologue
  bool is_first_take_ = false;
  bool all_hold_elements_ = false;  // Epilogue
  Values staged_;                   // by output: memory for the results of all lanes
  llvm::Value* staged_ids_ = nullptr;
  kernel::RegisterId active_ = kernel::kNone;  // the register `active` assigns
};

}  // namespace lw::backend::cpu
