#include "lanewise/backend/cpu/announce.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <llvm/Object/ELFObjectFile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "lanewise/base/environment.h"
#include "lanewise/base/fork.h"

// What gdb looks for: it stops in the function and reads the list. Weak, as others may bring it.
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;  // 0: nothing, 1: registered, 2: about to go
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
void __jit_debug_register_code();
__attribute__((weak)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((weak, noinline)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace lw::backend::cpu {
namespace {

base::Mutex& list_mutex() {
  static base::Mutex& mutex = *new base::Mutex;  // code may go at the very end
  return mutex;
}

bool is_asked(const char* variable) { return base::environment_number(variable, 0) != 0; }

/// One write a kernel, at the end of a file that must be ours.
void write_map(const std::vector<Symbol>& symbols) {
  std::string text;
  for (const Symbol& s : symbols) text += fmt::format("{:x} {:x} {}\n", s.address, s.size, s.name);
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return;
  struct stat status{};
  if (fstat(file, &status) == 0 && status.st_uid == geteuid() && S_ISREG(status.st_mode)) {
    static_cast<void>(!write(file, text.data(), text.size()));  // perf does without
  }
  close(file);
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

std::vector<Symbol> find_symbols(const std::string& object, const char* entry,
                                 std::uint64_t address) {
  using namespace llvm::object;
  auto file = ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  struct Found {
    std::string name;
    std::uint64_t offset, size, section;
  };
  std::string name = "lanewise_";
  std::vector<Found> found;
  const Found* at_entry = nullptr;
  for (const ELFSymbolRef symbol : llvm::cast<ELFObjectFileBase>(**file).symbols()) {
    auto own = symbol.getName();
    auto offset = symbol.getValue();
    auto section = symbol.getSection();
    const bool is_known = own && offset && section;
    if (is_known && symbol.getELFType() == llvm::ELF::STT_FUNC &&
        *section != (*file)->section_end()) {
      found.push_back({own->str(), *offset, symbol.getSize(), (*section)->getIndex()});
    }
    if (own && symbol.getELFType() == llvm::ELF::STT_FILE) name += own->str();
    if (!own) llvm::consumeError(own.takeError());
    if (!offset) llvm::consumeError(offset.takeError());
    if (!section) llvm::consumeError(section.takeError());
  }
  for (const Found& f : found) {
    if (f.name == entry) at_entry = &f;
  }
  std::vector<Symbol> symbols;
  for (const Found& f : found) {
    if (at_entry == nullptr || f.section != at_entry->section) continue;  // lies who knows where
    symbols.push_back({&f == at_entry ? name : name + '.' + f.name,
                       address - at_entry->offset + f.offset, f.size});
  }
  return symbols;
}

// The sections: none, .text (where the code lies; it is not in the file), symbols, their names, and
// the names of sections.
std::string symbol_file(const std::vector<Symbol>& symbols) {
  using namespace llvm::ELF;
  static constexpr char kSectionNames[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  std::string names(1, '\0');
  std::string table;
  append(table, Elf64_Sym{});
  for (const Symbol& symbol : symbols) {
    low = std::min(low, symbol.address);
    high = std::max(high, symbol.address + symbol.size);
    append(table, Elf64_Sym{.st_name = static_cast<Elf64_Word>(names.size()),
                            .st_info = STB_GLOBAL << 4 | STT_FUNC,
                            .st_other = STV_DEFAULT,
                            .st_shndx = 1,
                            .st_value = symbol.address,
                            .st_size = symbol.size});
    names += symbol.name + '\0';
  }
  const std::uint64_t table_at = sizeof(Elf64_Ehdr);
  const std::uint64_t names_at = table_at + table.size();
  const std::uint64_t section_names_at = names_at + names.size();
  const std::uint64_t sections_at = (section_names_at + sizeof(kSectionNames) + 7) / 8 * 8;

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = sections_at;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 4;

  std::string file;
  append(file, header);
  file += table + names;
  file.append(kSectionNames, sizeof(kSectionNames));
  file.resize(sections_at, '\0');
  append(file, Elf64_Shdr{});
  append(file, Elf64_Shdr{.sh_name = 1,
                          .sh_type = SHT_NOBITS,
                          .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                          .sh_addr = low,
                          .sh_size = high - low,
                          .sh_addralign = 1});
  append(file, Elf64_Shdr{.sh_name = 7,
                          .sh_type = SHT_SYMTAB,
                          .sh_offset = table_at,
                          .sh_size = table.size(),
                          .sh_link = 3,
                          .sh_info = 1,
                          .sh_addralign = 8,
                          .sh_entsize = sizeof(Elf64_Sym)});
  append(file, Elf64_Shdr{.sh_name = 15,
                          .sh_type = SHT_STRTAB,
                          .sh_offset = names_at,
                          .sh_size = names.size(),
                          .sh_addralign = 1});
  append(file, Elf64_Shdr{.sh_name = 23,
                          .sh_type = SHT_STRTAB,
                          .sh_offset = section_names_at,
                          .sh_size = sizeof(kSectionNames),
                          .sh_addralign = 1});
  return file;
}

struct Announcement::Registered {
  std::string file;
  jit_code_entry entry{};

  explicit Registered(std::string text) : file(std::move(text)) {
    entry.symfile_addr = file.data();
    entry.symfile_size = file.size();
    const std::lock_guard lock(list_mutex());
    entry.next_entry = __jit_debug_descriptor.first_entry;
    if (entry.next_entry != nullptr) entry.next_entry->prev_entry = &entry;
    __jit_debug_descriptor.first_entry = &entry;
    tell(1);
  }
  ~Registered() {
    const std::lock_guard lock(list_mutex());
    if (entry.prev_entry != nullptr) {
      entry.prev_entry->next_entry = entry.next_entry;
    } else {
      __jit_debug_descriptor.first_entry = entry.next_entry;
    }
    if (entry.next_entry != nullptr) entry.next_entry->prev_entry = entry.prev_entry;
    tell(2);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  void tell(std::uint32_t action) {
    __jit_debug_descriptor.relevant_entry = &entry;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = 0;
  }
};

Announcement::~Announcement() = default;

std::unique_ptr<Announcement> Announcement::make(const std::string& object, const char* entry,
                                                 std::uint64_t address) {
  const bool for_perf = is_asked("LANEWISE_PERF");
  const bool for_gdb = is_asked("LANEWISE_GDB");
  if (!for_perf && !for_gdb) return nullptr;
  const std::vector<Symbol> symbols = find_symbols(object, entry, address);
  if (symbols.empty()) return nullptr;
  if (for_perf) write_map(symbols);
  if (!for_gdb) return nullptr;
  std::unique_ptr<Announcement> announcement(new Announcement);
  announcement->registered_ = std::make_unique<Registered>(symbol_file(symbols));
  return announcement;
}

}  // namespace lw::backend::cpu
